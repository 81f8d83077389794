"""Well-known given names and places, in small letters: enough to tell most people from most places.

They give a name its type, and let it count where a sentence begins. Names that are ordinary words as well
("rose", "reading") are left out.
"""

from __future__ import annotations

from .words import word_set

GIVEN_NAMES = word_set(
    """
    aaron abdul abigail abraham ada adam adele adrian agnes ahmed aisha akira alan albert alejandro alessandro alex
    alexander alexandra alexei alfred ali alice alicia alina alison amanda amelia amina amir amy ana anastasia anders
    andrea andreas andrei andrew andy angela angelina anika anita ann anna anne annie anthony antonio anya ariel arjun
    arthur arturo asha ashley astrid audrey ayesha barbara beatrice beatriz becky ben benedict benjamin bernard bianca
    birgit björn bob boris brandon brenda brian bridget bruno calvin camila camille carl carla carlos carmen carol
    carolina caroline catherine cecilia charles charlie charlotte chen chiara chloe chris christian christina christine
    christopher claire clara claudia colin connor craig cristina cynthia daniel daniela daniele darren dave david
    deborah denise dennis derek diana diego dimitri dmitri dmitry dominic donald donna dorothy douglas dylan eduardo
    edward elena eleanor eli elias elif elisa elisabeth elizabeth ella ellen elsa emil emilia emily emma enrique eric
    erica erik erika ernest esther ethan eugene eva evan evelyn fabio farid fatima federico felix fernando filip fiona
    florian frances francesca francesco francis francisco frank frederick gabriel gabriela gareth gary gavin george
    georgia gerald giulia giovanni gordon graham greg gregory greta guillermo gustav hamza hannah hans harold harriet
    harry hassan heather hector heidi helen helena helga henrik henry hiroshi hugo ian ibrahim igor ines inga ingrid
    irene irina isaac isabel isabella isla ivan jack jackson jacob jakob jakub james jamie jan jane janet jason javier
    jean jeff jeffrey jennifer jenny jeremy jerry jessica jim jing joan joanna joao joel johan johanna johannes john
    johnny jon jonas jonathan jordan jorge jose josef joseph josh joshua juan judith julia julian julie julius jun
    justin kai karen karin karl karolina kate katharina katherine kathleen katie katja keiko keith kelly ken kenji
    kenneth kevin khalid kim kiran klaus kristen kristina kurt kyle lara lars laura lauren laurence laurent layla lea
    leah lena leo leon leonardo leonie leyla liam lidia lily linda lisa liz logan lorenzo louis louise luca lucas
    lucia lucy ludwig luis luisa luka lukas luke lydia madison magdalena maja manuel marc marcel marco marcus margaret
    margot maria mariam mariana marie marina mario marion marjorie markus marta martha martin martina mary mateo
    matteo matthew matthias maurice max maya megan mei mel melanie melissa mia michael michelle miguel mike mila milan
    milena mina miriam mohamed mohammad mohammed monica monika moritz muhammad nadia nancy naomi natalia natalie
    natasha nathan neil nicholas nick nico nicola nicolas nicole nigel nikita nikolai nils nina noah noor nora olaf
    oleg olga oliver olivia omar oscar pablo pamela paolo patricia patrick paul paula paulo pavel pedro penelope pete
    peter petra philip philipp philippe phoebe pierre piotr priya rachel rafael rahul raj ralph ramon raquel rasmus
    raymond rebecca regina reza ricardo richard rita robert roberto robin rodrigo roger roland roman ron ronald rosa
    rosalind rosemary rosie roxana ruben rudolf russell ruth ryan sabine sabrina sally sam samantha samir samira
    samuel sandra sanjay sara sarah sasha scott sean sebastian selma sergei sergey sergio seth shannon sharon sheila
    shirley silvia simon simone sofia sonia sonja sophia sophie stefan stella stephan stephanie stephen steve steven
    stuart sunil susan susanne suzanne sven svetlana tamara tania tanya tara tariq tatiana ted teresa thea theo
    theodore theresa thomas tim timothy tina tobias todd tom tomas tomasz tommy toni tony tracy ulrich ursula valentina
    valeria vanessa vera veronica victor victoria viktor vincent viola virginia vladimir walter wanda wei wendy werner
    wilhelm william wolfgang xavier yasmin yuki yuri yusuf yvonne zara zoe
    ольга пётр анна мария иван дмитрий сергей елена наталья алексей андрей татьяна ирина михаил николай екатерина
    γιώργος μαρία ελένη νίκος
    """
)

PLACES = word_set(
    """
    afghanistan africa alabama alaska albania algeria alps america amsterdam andes andorra angola ankara antarctica
    antwerp argentina arizona arkansas armenia asia athens atlanta auckland australia austria azerbaijan bahrain bali
    baltimore bangalore bangkok bangladesh barbados barcelona basel bavaria beijing beirut belarus belfast belgium
    belgrade belize bengaluru benin bergen berlin bermuda bern bhutan birmingham bogotá bologna bolivia bordeaux bosnia
    boston botswana brasília brazil bremen brisbane bristol britain brooklyn bruges brunei brussels bucharest budapest
    bulgaria burundi cairo calgary california cambodia cambridge cameroon canada canberra caracas cardiff casablanca
    catalonia chennai chicago chile china cleveland cologne colombia colorado connecticut copenhagen cordoba cornwall
    crete croatia cuba cyprus czechia dakar dallas damascus delaware delhi denmark denver detroit djibouti dresden
    dubai dublin durban düsseldorf ecuador edinburgh egypt england eritrea estonia ethiopia europe fiji finland
    florence florida france frankfurt gabon galway gambia gdansk geneva genoa georgia germany ghana ghent gibraltar
    glasgow gothenburg granada greece greenland grenada guatemala guinea guyana haiti hamburg hanoi hanover havana
    hawaii heidelberg helsinki honduras hungary hyderabad iceland idaho illinois india indiana indonesia innsbruck iowa
    iran iraq ireland israel istanbul italy jakarta jamaica japan jerusalem johannesburg kansas karachi kazakhstan
    kentucky kenya kiev korea kosovo kraków krakow kuwait kyiv kyoto lagos laos latvia lebanon leeds leipzig lesotho
    liberia libya liechtenstein lima lisbon lisboa lithuania liverpool ljubljana london louisiana luxembourg lyon
    macedonia madagascar madrid malawi malaysia maldives mali malta manchester manhattan manila marrakesh marseille
    maryland massachusetts mauritius melbourne memphis mexico miami michigan milan minneapolis minnesota mississippi
    missouri moldova monaco mongolia montana montenegro montpellier montreal morocco moscow mozambique mumbai munich
    münchen köln myanmar nairobi namibia naples nebraska nepal netherlands nevada newcastle nicaragua nigeria norway
    nuremberg oakland ohio oklahoma oman ontario oregon osaka oslo ottawa oxford pakistan palermo palestine panama
    paraguay paris pennsylvania perth peru philadelphia philippines phoenix pisa pittsburgh poland porto portugal
    prague pretoria qatar quebec queensland reykjavik riga rome romania rotterdam russia rwanda salamanca salzburg
    samoa sarajevo scandinavia scotland seattle senegal seoul serbia seville shanghai shenzhen siberia sicily singapore
    slovakia slovenia sofia somalia spain stockholm strasbourg stuttgart sudan suriname sweden switzerland sydney syria
    taipei taiwan tallinn tanzania tasmania tehran tennessee texas thailand tibet tirana togo tokyo toronto toulouse
    trieste tunisia turin turkey tuscany uganda ukraine uruguay utah utrecht uzbekistan valencia vancouver venezuela
    venice vermont verona vienna vietnam vilnius wales warsaw washington wellington wien wisconsin wyoming yemen york
    zagreb zambia zimbabwe zurich zürich москва париж берлин лондон киев россия москву москве париже берлине
    """
)
