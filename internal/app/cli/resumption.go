package cli

import (
	"cmp"
	"os"
	"regexp"
	"strings"
	"sync"
)

// HTTPTokenVariable is the environment variable that stands for the flag -http_token where that is not given.
const HTTPTokenVariable = "SWCAFFE_HTTP_TOKEN"

// HTTPToken returns the token of a flag -http_token, or of the variable in its place.
func HTTPToken(flag string) string { return cmp.Or(flag, os.Getenv(HTTPTokenVariable)) }

// secrets maps flags whose values must not appear in a log to the environment variables in their place.
var secrets = map[string]string{"http_token": HTTPTokenVariable, "token": HTTPTokenVariable}

// resumption returns the command line that continues from a solver state: the original one, with -snapshot in place of the flags
// for the starting point. called is the path by which the program was called. It expands flag files, since they may hold such
// flags. A secret is replaced by its environment variable.
func (cs Commands) resumption(called string, args []string, state string) string {
	if expanded, _, err := expandFlagFiles(args, 0); err == nil {
		args = expanded
	}
	words := []string{shellWord(called)}
	takesValue := cs.valueFlags()
	for i := 0; i < len(args); i++ {
		name, value := cutFlag(args[i])
		apart := name != "" && value == nil && takesValue[name] && i+1 < len(args)
		if variable := secrets[name]; variable != "" {
			words = append(words, "-"+name, `"$`+variable+`"`)
		} else if name != "snapshot" && name != "weights" {
			words = append(words, shellWord(args[i]))
			if apart {
				words = append(words, shellWord(args[i+1]))
			}
		}
		if apart {
			i++
		}
	}
	return strings.Join(append(words, "-snapshot", shellWord(state)), " ")
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./=,:+@%-]+$`) })

// shellWord quotes a word for the shell if it needs that.
func shellWord(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
