"""Gazetteers: well-known given names and places, lower case.

They give a name its type, and let it count where a sentence begins. Names that are ordinary words as well
("rose", "reading") are left out. Of names in Cyrillic and Greek letters the stems stand here: they change
their endings.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import cues
from .words import word_set

GIVEN_NAMES = word_set(
    """
    aaltje aaron abdul abebe abeni abigail abla abraham ada adaeze adalberto adam adaora adebayo adele adeola
    adil adrian agata agnes agnieszka ahmed aidan ailsa aino aisha akin akinyi akira akosua alan albert
    alejandro aleksander aleksandra alena alessandro alessia alex alexander alexandra alexei alfred ali alice
    alicia alina aline alison aliyah alva alvaro ama amadou amaka amal amanda amara amelia amina amir amy ana
    anastasia anaïs anders andrea andreas andrei andrew androniki andré andrés andy angela angelina angelos
    angus anika anita anja anjali anke ann anna annalena anne anneke anneliese annelise annie anouk anselm
    ansgar anthony antje antoine antonia antonio anya aoife apostolos araceli arianna ariel arjun arnaud arne
    arthur arturo arvid asel asha ashley asmus asta astrid aud audrey aurora aurélie axel ayesha ayo ayodele
    aziz babak bahar baptiste barbara bartek bartosz bastian beate beatrice beatriz becky ben benedict benedikt
    benjamin benoit benoît beren berit bernard bettina bianca birgit birgitta björn bob bogdan boris brahim
    brandon branka brenda brian bridget brigitte britta bruna bruno burak calvin camila camille cansu carl
    carla carlos carmen carol carolina caroline carsten catarina catherine cecilia cem cezary charles charlie
    charlotte chen chiamaka chiara chidi chinedu chinua chioma chloe chris christian christina christine
    christopher ciara claire clara claudia clémence clément colette colin conchita connor cosimo craig cristina
    cynthia dafydd dagmar dagny damien dan danny damilola daniel daniela daniele daria dario darren dave david dawid
    dawit deborah deepa deepak delia delphine denise dennis derek desta diana diego dieter dilnoza dimitri dina
    dinesh dirk ditte dmitri dmitry dmytro dolores dominic donald donna dorota dorothea dorothy douglas dragan
    dylan ebba eberhard edda eduardo edward efua egil eirik eivind ekaterina eleanor elena eli elias elif elin
    elina elisa elisabeth elizabeth elke ella ellen ellinor eloise elsa elspeth emeka emil emilia emiliano
    emilie emily emma emre enrique eric erica erik erika ernest ernesto esther eszter ethan eugene eun eva evan
    evangelos evelyn ewa fabio farid fatima fatma fatou fatoumata federica federico felix femi femke fenna
    ferdinand fernanda fernando fikret filip finn fintan fiona fleur flora florian folake frances francesca
    francesco francis francisco frank franz frauke frederick freya frida frieda friederike fritz gabor gabriel
    gabriela gabriele gareth gary gavin gaël gemma genevieve geneviève george georgia georgios gerald gerd
    gerda gerrit gertrud giacomo gianluca gilles giorgio giorgos giovanni gisela giulia giuseppe giuseppina
    gonzalo gordon gosia graham grażyna greg gregory greta guadalupe gudrun guido guillermo gundula gunnar
    gustav hadiza halima hamish hamza hana hanna hannah hanne hannes hans harald hari harold harriet harry
    haruka haruto hassan heather hector hedwig heidi heike helen helena helga hendrik henning henri henrik
    henry hermann hilary hilda hilde hildur hiroshi horst hugo hye ian ibrahim idris ifeoma ignacio igor iker
    ilaria ilse imani imogen ines inga ingeborg ingo ingrid inés inês ioana ioannis iolanda irene irina iris
    isaac isabel isabella isabelle isla isolde itziar iva ivan ivana ivar iwona jacek jack jackson jacob
    jadwiga jaime jakob jakub james jamie jan jana jane janet jannik jarek jaroslav jason javier jean jeff
    jeffrey jelena jennifer jenny jens jeremy jerry jesper jessica jim jing jitka joachim joan joana joanna
    joao jochen joel johan johanna johannes john johnny jolanta jon jonah jonas jonathan jordan jordi jorge
    jorun jose josef josefine joseph josephine josh joshua josé juan judith julia julian juliane julie juliette
    julius jun jussi justin jutta jürgen kaan kai kalle kamala kamil kamila karen karim karin karl karolina
    karsten kasia kaspar katarina katarzyna kate kateryna katharina katherine kathleen katie katja katrin
    kavita keiko keith kelechi kelly kemal ken kenji kenneth kerstin kevin khalid kim kiran kjell kjersti klara
    klaus knut kofi konrad konstantin konstantinos kostas kristen kristina krisztina krzysztof kseniya kurt
    kwabena kwame kyle laila lakshmi lara larissa lars lasse latifa laura lauren laurence laurent layla lea
    leah leandro leila lena lennart leo leon leona leonardo leonie leonor leszek levent leyla liam lidia lieke
    liesbeth lieselotte lilian lily lina linda linnea lionel lisa liz logan lorena lorenzo lotte louis louise
    lourdes luca lucas lucia luciana lucie lucille lucy lucía ludmila ludovica ludwig luigi luis luisa luiz
    luka lukas luke lutz luís lydia maarten maciej madeleine madison maeve magda magdalena magnus maha mahmoud
    maike maja malgorzata malik malin malte manon manuel manuela marc marcel marcela marcin marco marcus
    mareike marek margaret margarita marge margot marguerite maria mariam mariana marianna marianne marie
    marieke marija marijke mariko marina mario marion marisa marit marjorie markus markéta marlene marta martha
    marthe martin martina martí martín mary mateo mathias mathieu mathilde mats matteo matthew matthias
    matthijs maureen maurice mauro max maxime maya małgorzata megan mehdi mehmet mei meike mel melanie melissa
    merete mette mia michael michal michał michelle miguel miikka mikael mike mikkel mila milan milena milica
    milos miloš mina minh mireille miriam mirjam miroslav mitra mohamed mohammad mohammed moira mona monica
    monika moritz moses moussa muhammad mustafa nadia nadine nadja naledi nana nancy nandini naoki naoko naomi
    nasrin natalia natalie natalya natasha nathalie nathan nazlı neha neil nele nelson ngozi nia niamh nicholas
    nick nico nicola nicolas nicole nicolò niels nigel nikhil nikita nikolai nikolaos nikos nils nina noah noor
    nora norbert noémie nuno nuria obinna octavia oddný odile oisín okan oksana ola olaf olav oleg olena olga
    oliver olivia oluwaseun omar onur orla orsolya oscar oskar ottavia otto oya ozan paavo pablo padraig paloma
    pamela panagiotis paolo parisa pascal patricia patrick patrizia paul paula pauline paulo pavel paweł pedro
    penelope pernille petar pete peter petra petros petter philip philipp philippe phoebe pierre piet pieter
    pilar piotr pradeep pratik priya priyanka przemek rachel radek rafael rafał raghav ragnar ragnhild rahul
    raimund raj rajesh ralph ramon ramona rania raphael raquel rasmus raymond raúl rebecca regina reinhard
    renata renate renee renée reza ricardo riccardo richard rikke rita robert roberto robin rodrigo roger rohan
    roisin roland rolf roman ron ronald rosa rosalie rosalind rosanna rosario rosemary rosie roswitha roxana
    roxanne ruben rudolf rui ruslan russell ruth ryan ryszard róisín sabine sabrina sabrine sadia sakura sally
    salma salome salvatore sam samantha sami samir samira samuel sandeep sander sandra sanjay sanna saoirse
    sapna sara sarah sasha saskia satoshi scott sean sebastian selin selma serge sergei sergey sergio serhii
    seth seun severin seyi shannon sharon sheila shirley shreya shu sibylle siddharth sigrid sigurd silke
    silvia silvio simon simona simone sina sinead sinéad siobhan siobhán snezana sofia soledad solveig sonia
    sonja sophia sophie stanislav stanisław stavros stefan steffen stelios stella stephan stephanie stephen
    steve steven stig stuart stéphane sumit sunil sunita sunniva susan susana susanna susanne suzan suzanne
    svea svein sven svetlana sylvia sylvie szymon sören søren tadeusz takashi tamara tamsin tania tanya tara
    tarek tariq taro tatiana tatjana ted temitope tendai teresa thabo thandiwe thanh thea theo theodora
    theodore theresa theresia thierry thijs thomas thomasz thora thorsten tiago tilda tim timo timothy timur
    tina tiziana tobi tobias todd toivo tom tomas tomasz tommy tomoko tomás toni tony torben tore torsten tracy
    traudl trine tristan tuomas tuuli uchenna ulf ulla ulrich ulrike umar umberto ursula uwe valentina valeria
    valerio valérie vanessa vasiliki vasilis veerle vera veronica veronika victor victoria vigdis vikram viktor
    vilma vincent viola violeta virginia vishal vittoria vivek vivian vlad vladimir volker volodymyr václav
    wafaa waleed walid walter waltraud wanda wanjiru wei wenche wendy werner wiebke wiktor wilhelm willem
    willemijn william wim winfried wojciech wojtek wolfgang xavi xavier ximena yaa yael yannick yannis yara
    yasemin yasmin yasmine yelena yetunde yiannis yoko yolanda yosef yoshi youssef yuki yuko yulia yuliya yuri
    yusuf yuto yves yvonne zainab zainep zara zeynep zita zoe zofia zsuzsa zsófia zuri zuzana ángel åsa åse
    çağla íñigo óscar özge øystein øyvind łukasz şule
    таня тани тане таню юля юли юле юлю катя кати кате катю оля оли оле олю лена лены лене лену аня ани ане аню
    ира иры ире иру миша миши мише мишу паша саша саши саше сашу вася лёша лёши лев льва глеб глеба глебом анна
    анны анне анну иван яна пётр петра петром олег олега вера веры вере веру ян
    """
)

PLACES = word_set(
    """
    aachen aarhus aberdeen aberystwyth abidjan abuja acapulco accra addis adelaide afghanistan africa alabama
    alaska albania alentejo aleppo alexandria algarve algeria algiers alicante almaty alps alsace amalfi
    america amman amsterdam anchorage andalusia andes andorra angola ankara antalya antarctica antwerp aosta
    aqaba aragon arequipa argentina arizona arkansas armenia asheville asia asturias asunción atacama athens
    atlanta auckland augsburg australia austria avignon azerbaijan baden baghdad bahia bahrain baku bali
    baltimore bamako bandung bangalore bangkok bangladesh barbados barcelona bari bariloche basel basra batumi
    bavaria bayreuth beijing beirut belarus belfast belgium belgrade belize belém bengaluru benidorm benin
    bergen berlin bermuda bern bhutan bielefeld bilbao birmingham bishkek bochum bodø bogotá boise bolivia
    bologna bonn bordeaux bosnia boston botswana boulder bradford braga brasilia brasília bratislava
    braunschweig brazil bremen brescia brest brighton brisbane bristol britain brittany brno bronx brooklyn
    bruges brugge brunei brunswick brussels bruxelles bryansk bucaramanga bucharest budapest bukhara bulgaria
    burgos burgundy burundi busan cadiz cairo calais calcutta calgary cali california cambodia cambridge camden
    cameroon canada canberra cancún canterbury caracas cardiff caribbean cartagena casablanca catalonia catania
    cebu chamonix chandigarh charleston chennai chester chiangmai chiapas chicago chile china chișinău
    christchurch cincinnati cleveland coimbra colmar cologne colombia colombo colorado columbus como
    connecticut copenhagen cordoba corfu cork cornwall corsica cotswolds crete croatia cuba cusco cyprus
    czechia cádiz córdoba daegu dakar dalian dallas damascus daresalaam darmstadt darwin davos delaware delft
    delhi denmark denver detroit devon dhaka dijon djibouti dordrecht dortmund dresden dubai dublin dundee
    dunedin durban durham dushanbe düsseldorf ecuador edinburgh edmonton egypt eindhoven emirates england
    erfurt eritrea estonia ethiopia europe exeter faro ferrara fez fiji finland flanders florence florida
    france frankfurt freiburg fukuoka fukushima gabon galapagos galicia galway gambia garmisch gdansk gdynia
    geneva genoa gent georgia germany ghana ghent gibraltar girona glasgow goa gothenburg granada graz greece
    greenland grenada grenoble groningen guadalajara guangzhou guatemala guayaquil guinea guyana göttingen
    haarlem hackney haifa haiti halifax hamburg hanoi hanover harare harbin harlem hartford havana hawaii
    heidelberg helsinki herzegovina hiroshima hobart hokkaido honduras honolulu houston huelva hull hungary
    hyderabad ibiza iceland idaho illinois india indiana indonesia innsbruck inverness iowa ipswich iran iraq
    ireland irkutsk isfahan israel istanbul italy izmir jaipur jakarta jamaica japan jeddah jena jerusalem
    johannesburg kabul kampala kandy kansas karachi karlsruhe kassel kathmandu katowice kaunas kazakhstan kazan
    kentucky kenya kharkiv khartoum kiel kiev kigali kingston kinshasa klagenfurt kobe koblenz kolkata konstanz
    konya korea kosovo krakow kraków kreuzberg kristiansand kumasi kuwait kyiv kyoto köln lagos lahore
    lancaster laos lapland latvia lausanne lebanon leeds leicester leiden leipzig leith lesotho leuven león
    lhasa liberia libya liechtenstein lille lima limassol limerick limoges linz lisboa lisbon lithuania
    liverpool ljubljana lodz lofoten lombardy london louisiana lublin lucerne lund lusaka luxembourg luxor
    luzern lviv lyon lübeck maastricht macedonia madagascar madeira madrid mainz malaga malawi malaysia
    maldives mali mallorca malmö malta managua manchester manhattan manila mannheim maputo maribor marrakesh
    marseille maryland massachusetts mauritius mecca medellín medina melbourne memphis merida messina mexico
    miami michigan milan milwaukee minneapolis minnesota minsk mississippi missouri modena moldova mombasa
    monaco mongolia montana montenegro monterrey montevideo montmartre montpellier montreal montréal morocco
    moscow mostar mozambique mumbai munich myanmar mysore málaga mérida münchen münster nagasaki nagoya nairobi
    namibia nanjing nantes naples narvik nashville navarra nebraska nepal netherlands neukölln nevada newcastle
    nicaragua nicosia nigeria nijmegen normandy norway norwich nottingham novosibirsk nuremberg nürnberg
    oakland oaxaca oceania odesa odessa ohio okinawa oklahoma oldenburg olomouc omaha oman ontario oporto
    oregon orkney orlando orléans osaka oslo ostrava ottawa oulu oviedo oxford padova padua pakistan palermo
    palestine palma pamplona panama paraguay paris patagonia patras penang pennsylvania penzance perth peru
    perugia philadelphia philippines phoenix piraeus pisa pittsburgh plovdiv plymouth podgorica poitiers poland
    portland porto portsmouth portugal potsdam poznan poznań prague pretoria pristina provence puebla puglia
    pune punjab qatar qingdao quebec queensland quito rajasthan raleigh rennes reykjavik rhodes riga rijeka
    rimini romania rome rostock rotterdam rouen russia rwanda saarbrücken sacramento salamanca salerno salford
    salzburg samarkand samoa sansibar santander santiago santorini sapporo sarajevo sardinia saskatchewan
    saxony scandinavia scotland seattle sendai senegal seoul serbia seville shanghai sheffield shenzhen
    shetland shiraz shoreditch shrewsbury siberia sicily siena singapore skopje skye slovakia slovenia sofia
    soho somalia southampton spain stavanger stirling stockholm strasbourg stuttgart sudan suriname suzhou
    swansea sweden switzerland sydney syria szczecin szeged taipei taiwan tallin tallinn tampa tampere tangier
    tanzania tartu tasmania tbilisi tehran tennessee texas thailand thessaloniki tianjin tibet tijuana
    timișoara tirana tirol togo tokio tokyo toledo torino toronto toulon toulouse trento treviso trier trieste
    tripoli tromsø trondheim tucson tulsa tunis tunisia turin turkey turku tuscany tyrol tórshavn tübingen
    uganda ukraine ulm umeå uppsala uruguay utah utrecht uzbekistan vaduz valencia valladolid valletta
    valparaíso vancouver venezuela venice verdun vermont verona vienna vietnam vigo vilnius vladivostok
    vorarlberg wakefield wales warsaw warwick washington weimar wellington wien wiesbaden winnipeg wisconsin
    wolfsburg worcester wrocław wuhan wuppertal wyoming würzburg xiamen yangon yaroslavl yemen yerevan yokohama
    york yorkshire yukon zagreb zambia zanzibar zaragoza zealand zermatt zimbabwe zurich zwolle zürich łódź
    рим риме риму вена вене вену рига риге ригу баку сочи уфа уфе уфу тула туле пермь перми тверь твери
    """
)

_NAME_STEMS = word_set(
    """
    алекс александр александра алин алис анастаси анатоли андре андрі антон артур артём богдан борис вадим
    валенти валери веронк виктор виктори виталий влад владимир вячеслав галин глеб григори даниил дарин дарь
    денис дмитр дмитри евгени егор екатерин елен ефим жанн заур иван игор ирин кирилл константин ксени леонид
    людмил макс максим маргарит мари марин марь микол михаил надежд наст натал наташ никит никола окса оксан
    олег олен ольг остап павел павл петр полин пётр раис роман руслан свет светлан семен семён серге сергі
    серёж слав софи степан тамар тарас татьян тимур федор фёдор юлиан яков яросл ярослав ірин
    γιώργ γιάνν μαρί ελέν κώστ δημήτρ κατερίν νίκ στέλι σοφί αλέξανδρ αλεξάνδρ παναγιώτ βασίλ βασιλικ χρήστ
    αθην ανν ιωάνν θανάσ ευαγγελ ηλί πέτρ σπύρ στέφαν αντών ειρήν δέσποιν αγγελικ
    """
)
_PLACE_STEMS = word_set(
    """
    алмат америк армени астан баку барселон белград берлин варшав вильнюс владивосток герман грузи европ
    екатеринбург ереван иркутск испани итали казан калининград киев китай києв київ краснодар крым лисбон
    лондон львов львів мадрид минск москв новосибирск нью-йорк одесс омск париж пекин перм петербург польш праг
    росси ростов самар сочи стамбул таллин ташкент тбилис твер токио томск турци украин франци харків харьков
    хельсинк япони ярославл
    αθήν θεσσαλονίκ πάτρ κρήτ ηράκλει νάξ πάρ ρόδ κέρκυρ βόλ λάρισ ιωάννιν κύπρ λευκωσί ελλάδ σαντορίν μύκον
    χανι χίο λέσβ ευρώπ λονδίν βερολίν παρίσ
    """
)
_ENDINGS = word_set(
    """
    а я у ю е ё и і ы й ь о ой ей ом ем ём ою ею ам ах ия ии ию ием ией ий ію ії
    α η ο ς ν ας ης ος ου ω ων ία ίας ίο ιο ιά ιας ι ις ην
    """
) | {""}


def is_given_name(word: str) -> bool:
    return word in GIVEN_NAMES or (not word.isascii() and _has_stem(word, _NAME_STEMS))


def is_place(words: Sequence[str]) -> bool:
    """Whether the words, in small letters, name a well-known place: "porto", "porto alegre", "new york"."""
    first, last = words[0], words[-1]
    if len(words) < 3 and (first in PLACES or (not first.isascii() and _has_stem(first, _PLACE_STEMS))):
        return first not in GIVEN_NAMES or len(words) == 1
    return len(words) == 2 and first in cues.PLACE_STARTS and last in PLACES


def _has_stem(word: str, stems: frozenset[str]) -> bool:
    return any(word[: len(word) - cut] in stems and word[len(word) - cut :] in _ENDINGS for cut in range(3))
