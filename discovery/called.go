package discovery

import "airlock/servers"

// sharedPart is in how many of a server's tools a word of their names says nothing
// about the single one, such as git in git_log.
const sharedPart = 0.6

// calledStems lists for each tool the indexed stems of its name, each once, without
// those of the server's name and those that most of its tools' names hold.
func (r *ranking) calledStems(tools []servers.Tool, words *stemmer) [][]int {
	all := make([][]int, len(tools))
	held := map[[2]int]int{} // tools of a server whose name holds a stem
	for i, tool := range tools {
		own := map[string]bool{}
		for _, stem := range words.stems(tool.Server) {
			own[stem] = true
		}
		for _, word := range splitName(tool.Name) {
			stem := words.stem(word)
			number, ok := r.number[stem]
			if !ok || own[stem] {
				continue
			}
			own[stem] = true
			all[i] = append(all[i], number)
			held[[2]int{r.servers[i], number}]++
		}
	}
	for i, stems := range all {
		kept := stems[:0]
		size := r.sizes[r.servers[i]]
		for _, stem := range stems {
			if n := held[[2]int{r.servers[i], stem}]; size < minShared || float64(n) < sharedPart*float64(size) {
				kept = append(kept, stem)
			}
		}
		all[i] = kept
	}
	return all
}

// minShared is how many tools a server must have for their names to share a word.
const minShared = 4
