"""Secrets as people say them (``{}`` stands around the secret), and sentences that only speak of such things."""

SPOKEN = """
My wifi password at home is {bluehorse77}
the wifi password at my mum's is {Sunflower2019}, write it down
our wifi password is {GreenKettle}
the netflix password is still {ostrich_lane}
my password for the library is {Marigold}.
the pin of my card is {4711}
my card's pin is {0815}
PIN for the debit card: {2290}
my sim pin {8842} in case you need it
the code for the door is {5512}
door code {5512}
garage code is {90210}#, tell the plumber
the alarm code at work is {1984}
gate code: {4411}
the combination for the bike lock is {3-7-1-9}
safe combination is {12 34 56}
the code to get in is {7788}
keypad code {2580}, then hash
{5512} is the door code by the way
{4711} is my pin
the passcode for my phone is {147258}
the wifi key is {77ab19cd}
remember the locker code is {4040} please
front door code's {1357}
the login password was {Hund3hütte} until may
passwort fürs wlan ist {Sommer2021}
das passwort vom router ist {kaffee99}
mein kennwort für die bank lautet {Igel!Topf}
das wlan passwort bei oma ist {12345678}
die pin von meiner karte ist {4711}
meine pin ist jetzt {9034}
der code für die haustür ist {2468}
türcode {5512}
tresorcode: {778899}
der alarmcode ist {1122}
{4711} ist meine pin
die kombination vom schloss ist {7391}
geheimzahl der ec-karte ist {3141}
le mot de passe du wifi est {soleil44}
mon mot de passe pour la mairie c'est {Baguette7}
le mdp c'est {chat2noir}
mot de passe de la box: {Tournesol}
le code de la porte est {4586}
le digicode c'est {1284}
le code pin de ma carte est {7007}
le code du portail est {9630}
code de l'alarme {4545}
la contraseña del wifi es {gato2020}
mi contraseña del banco es {Naranja88}
la clave del wifi es {casa1234}
el pin de mi tarjeta es {6655}
el código de la puerta es {8080}
el código de la alarma es {3030}
la contraseña de netflix es {Mariposa}
la password del wifi è {ciao1234}
la password di casa è {Girasole9}
il pin della carta è {5050}
il codice del portone è {2244}
il codice dell'allarme è {7171}
la combinazione della cassaforte è {9 8 7 6}
a senha do wifi é {praia2022}
a senha do banco é {Laranja55}
o pin do cartão é {4321}
o código do portão é {1010}
a senha da netflix é {Girassol}
o código da porta é {6789}
"""

NOT_SPOKEN = """
the password policy is annoying
my pin number changed
the pin code is on page 1234
I forgot the password for the library again
the wifi password is on the fridge
the password is wrong, I tried it three times
my password is too short they say
the password is 12 characters long
passwords are changed every 90 days
a password must have 16 characters and a number
the password was changed in 2023
the password for the portal was reset on 12.03.2024
the door code changed last week
who has the gate code?
the alarm code is only known to Sandra
the error code is 5512
error code 4004 on the dishwasher
the postal code is 94110
zip code 10115, area code 0471
my pin board has 1200 photos
drop a pin at 4500 meters
Pinterest has 5000 pins of that
the discount code is SUMMER20
use promo code 2580 at checkout
the dress code is black tie
the code is 1200 lines long
code review at 1430
the source code has 4000 lines
the building code 2021 says two exits
bowling pin 1234567890123 factory
bring the safe, it weighs 1200 kilos
the lock is from 1987
the combination of 1200 and 1300 is 2500
das passwort ist abgelaufen
das passwort ist auf dem Zettel
das passwort muss zwölf Zeichen haben
mein passwort ist Mist
die pin habe ich vergessen
die pin kommt mit der post
der türcode wurde geändert
der fehlercode ist 5512
postleitzahl 10115
der code für die app hat 4000 zeilen
le mot de passe est trop long
le mot de passe est sur le frigo
le code de la route a changé en 2023
le code postal est 75011
j'ai perdu le code du portail
le digicode ne marche plus
la contraseña es larga
la contraseña está en la nevera
la clave del éxito es trabajar
el código postal es 28013
cambié el pin ayer
el código de la puerta no funciona
la password è scaduta
la password è sul frigo
il codice fiscale è lungo
il codice postale è 20121
a senha é longa
a senha está na geladeira
o código postal é 4000
mudei o pin ontem
o código da porta mudou
the password manager is Bitwarden
my password manager is called KeePass and costs 1200 a year
the password is Monday's problem
the key is 440 Hz, or A
what is the wifi password?
is the door code four digits?
"""
