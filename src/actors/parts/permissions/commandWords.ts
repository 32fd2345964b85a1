/** The longest line that is looked at, in UTF-16 units. */
const longestLine = 10_000

/** Parts of a line that are understood. Beyond ASCII only letters and digits count: shells differ about what is a blank. */
const blank = /[ \t]+/y
const commandEnd = /;|\n|&&|\|\|?(?!&)/y
const quoted = /'([^'\0]*)'|"([^"$`\\!\0]*)"/y
const bare = /[\w\-./:=,@%+\p{L}\p{N}]+/uy

/** Commands that run what their arguments say, and words of the shell's own language. */
const runsOthers = new Set(
  (
    '. alias bash builtin busybox case command coproc dash declare do doas done elif else env esac eval exec export fi fish for function ' +
    'if in ksh local nice nohup parallel readonly select set setsid sh source ssh stdbuf su sudo then time timeout trap typeset ' +
    'unalias until watch while xargs zsh'
  ).split(' '),
)

const assignment = /^\w+\+?=/

/**
 * Returns the simple commands of a shell line as lists of words, if it says nothing beyond words, plain quotes and `;`, `&&`, `||`, `|` or
 * new lines between them; `undefined` if it might say more. Pure; time is proportional to the line.
 */
export function simpleCommands(line: string): readonly (readonly string[])[] | undefined {
  if (line.length > longestLine) return undefined
  const commands: string[][] = []
  let words: string[] = []
  let word: string | undefined
  const endWord = (): void => {
    if (word !== undefined) words.push(word)
    word = undefined
  }
  const endCommand = (): void => {
    endWord()
    if (words.length > 0) commands.push(words)
    words = []
  }
  let at = 0
  const take = (part: RegExp): RegExpExecArray | null => {
    part.lastIndex = at
    const found = part.exec(line)
    if (found !== null) at += found[0].length
    return found
  }
  while (at < line.length) {
    if (take(blank) !== null) endWord()
    else if (take(commandEnd) !== null) endCommand()
    else {
      const found = take(quoted) ?? take(bare)
      if (found === null) return undefined
      word = (word ?? '') + (found[1] ?? found[2] ?? found[0])
    }
  }
  endCommand()
  return commands.some(([first = '']) => assignment.test(first) || runsOthers.has(nameIn(first))) ? undefined : commands
}

/** Returns the words at which a command could begin in a line that is not understood, each with what follows it. */
export function roughCommands(line: string): readonly (readonly string[])[] {
  const words = line
    .slice(0, longestLine)
    .replaceAll(/['"\\]/g, '')
    .split(/[\s;&|(){}`$<>]+/)
    .filter((word) => word !== '')
  return words.map((_, index) => words.slice(index, index + mostWords))
}

/** The most words of a pattern, so that a look everywhere takes time proportional to the line. */
export const mostWords = 50

/** Returns the name of a command without its folder. */
export const nameIn = (command: string): string => command.slice(command.lastIndexOf('/') + 1)
