package detect

import (
	"strings"
	"sync"
)

// givenNames are common given names in many countries, in lower case. They only
// help to tell "Nadia Quintero" from "Blue Sofa" under a bare "name".
const givenNames = "aaron abdul abigail adam aditya adriana agnes ahmed aisha alan albert alberto alejandro alessandro alex alexander alexandra alfred ali alice alicia alina amanda amelia amina amir amit amy ana anastasia andre andrea andreas andrei andrew angela anil anita anja ann anna anne annika antoine anton antonio anya april arjun arthur asha ashley astrid august aya ayse barbara beatrice ben benjamin bernard bilal bjorn bob boris brandon brian bruno camila carl carla carlos carmen carol caroline catherine cecilia charles charlotte chen chiara chloe chris christian christina christine christopher clara claire claudia connor cristina daniel daniela david deborah deepak denis derek diana diego dieter dimitri dmitri dominik donald donna dorothy dylan edward elena eleni elias elif elijah elizabeth ella ellen emil emily emma eric erik erika esther ethan eva evelyn fatima felix fernando fiona florian frances francesca francesco francisco frank franz frida gabriel gabriela george georg gerard gertrude giovanni giulia grace greta grzegorz gunter gustav hamid hana hannah hans harold harry hassan heather heidi helen helena helga henrik henry hiroshi hugo ian ibrahim ida igor ines ingrid irene irina isaac isabel isabella ivan jack jacob jaime jakub james jan jane janet jason javier jean jennifer jens jerzy jessica jing joan joao johan johann johannes john jonas jonathan jorge jose josef joseph joshua juan judith julia julian julie jun jurgen kai karen karim karin karl katarina kate katharina katherine kathleen katja kavita keiko keith kelly ken kenji kevin khalid kim klaus kofi krzysztof kumar kyle lars laura lauren layla lea leila lena leo leon leonardo leticia li liam lila lina linda lisa liu lorenzo louis louise lucas lucia lucy luis luisa luka lukas luna magda maja malik manuel marc marcel marco marcus margaret maria mariam marie mario marion marta martha martin mary mateo matthew matthias maximilian maya mehmet mei melissa mia michael michal michelle miguel mikhail milan mina mohamed mohammad mohammed monica muhammad nadia nancy naomi natalia natasha nathan neha nicholas nick nicola nicole nikhil nikita nikolai nina noah noor nora olga oliver olivia omar oscar otto pablo pamela paolo patricia patrick paul paula pavel pedro peter petra philip pierre piotr priya rachel rafael rahul rainer raj ralph ramon raquel rashid ravi raymond rebecca ricardo richard rita robert roberto rosa rose roman ruth ryan sabine sakura salma sam samantha samir samuel sandra sanjay santiago sara sarah scott sean sebastian sergei shirley silvia simon simone sofia sonia sophia sophie stefan stefano stephanie stephen steven sunita susan suresh susanne sven svetlana sylvia takeshi tamar tanya tariq tatiana theodore theresa thomas tim timothy tomas tomasz toni uma ursula valentina valeria vanessa vera veronica victor victoria viktor vincent virginia vladimir walter wei wendy werner william wolfgang ximena xin yan yara yasmin yuki yusuf zainab zoe zofia"

// commonWords are words of the names of things: products, files, tools, places,
// companies.
const commonWords = "access account action active add address adapter admin air alarm alert all analysis analytics android api app apple application apps archive area array art asset assistant audio auto automatic average avenue azure backend backpack backup bag ball bank bar base basic battery beach bed bedroom belt best big bike bill black block blue board book boot boots bottle box branch bridge brown browser budget build building bundle bus business button buy cable calendar camera camping campus can car card care cart case cat category center central chair channel chart chat check checkout china city class classic clean clear client clock cloud club code coffee collection color column command commerce common community company computer config connect console contact container content control cookie cooking copy core corp corporation cotton count county cover create credit cup current custom customer cycle daily dash dashboard data database date day debug deck deep default delete delivery deluxe demo department deploy design desk desktop detail details dev developer development device digital dinner direct directory dish disk dock docs document dog domain door download dress drive driver duty dynamic early earth east easy edge edit editor education electric electronics email energy engine engineering english entry environment error essential europe event events example exchange executive export express external fabric face factory fan fast feature field file files film filter final finance find fish fitness fix flash flat floor flow folder food foot football form format forum foundation frame free fresh front frontend full function fund furniture game gamer games gaming garden gateway gear general get gift glass global gmbh gold golf google grand graph gray green grey grid group guide hall hammer hand handle hard hardware hat head headphone headphones health heart heavy hello help hiking history holiday home hospital host hot hotel hour house html hub human ice icon image import inc inbound index indoor info information infra input insert inside install institute insurance integration intel internal international internet inventory iphone island item items jacket java jeans job journal json junior keyboard key kit kitchen kubernetes label lab labs lake lamp language laptop large laser latest launch layer lead leader learning leather led left legal lens level library light limited line linen link linux list lite live load local lock log login logo long lookup ltd lunch mac machine magic mail main maintenance manager management map march mark market marketing master mat max media medical medium meeting member memory menu message metal meter metric micro microsoft mini mirror mobile mode model module money monitor monthly more motion motor mountain mouse movie mug multi museum music name national natural net network new news next night node north note notebook notes notification number object office oil old online open operations option orange order orders organic organization original outdoor output overview own pack package pad page paint pan panel paper park part partner parts party password patch path pay payment payments pen pencil people performance phone photo pillow pipeline pizza place plan planner plant plastic plate platform play player plugin plus pocket point policy pool port portable portal post poster power premium presentation press price primary prime print printer privacy private pro process processor product production products professional profile program project promo protection provider public pull purchase purple push python quality quarterly query queue quick race rack radio rain random range rate raw read reader ready real recent record red redis reference refund region release remote remove render replace report reports repository request research reset resource response rest restaurant result retail return review reward right ring river road robot role room root router row rule run runner running safe sale sales sample sandbox scale scan schedule schema school science score screen script sea search seat second secret section security select send senior sensor serial series server service services session set settings setup shared shelf shell shipping shirt shoe shoes shop short show silver simple single site size sketch skill slack sleep slim small smart snow soap social sofa soft software solar solution solutions sound source south space speaker special speed sport sports spring sql square stack staff stage staging stainless stand standard star start starter state static station status steel step stock stone storage store stream street studio style subscription suite summary summer sun super supply support surface sweater switch sync system table tablet tag tank target task tax tea team tech technologies technology template tennis terminal test tests text theme thing third time tire title tool tools top total tour towel tower town toy track trade traffic trail train training transfer transport travel tree trial trip truck tube tv type ui ultra united universal university unknown update upgrade upload urban url usage usb user users utility value van vector vehicle version video view vintage virtual vision visual voice wall wallet warehouse watch water wave wax weather web website week weekly west wheel white wide widget wifi wild wind window windows wine winter wire wireless wood wooden wool word work worker workflow workout workshop workspace world wrapper write yellow yoga zone"

// wordSet is a set of words of up to 16 lower-case letters.
type wordSet map[string]struct{}

// lazyWords makes a set of a list on first use.
func lazyWords(list string) func() wordSet {
	return sync.OnceValue(func() wordSet {
		set := wordSet{}
		for w := range strings.FieldsSeq(list) {
			set[w] = struct{}{}
		}
		return set
	})
}

var (
	given     = lazyWords(givenNames)
	common    = lazyWords(commonWords)
	particles = lazyWords("al bin da de del della den der di dos du el ibn la le van von y zu")
	thingKeys = lazyWords("price sku product stock quantity version description inputschema input_schema parameters category size path mimetype brand color weight license repository required properties arguments method command enabled schedule unit unit_price currency")
)

// has reports whether w, in any case, is in the set.
func (set wordSet) has(w []byte) bool {
	var buf [16]byte
	n := copy(buf[:], w)
	if n < len(w) {
		return false
	}
	for i := range n {
		if class[buf[i]]&upper != 0 {
			buf[i] |= 0x20
		}
	}
	_, ok := set[string(buf[:n])]
	return ok
}
