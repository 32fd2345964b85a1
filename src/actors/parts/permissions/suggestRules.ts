import { simpleCommands } from './commandWords.ts'
import { decideCall, type JudgedCall } from './decideCall.ts'
import { readRule } from './rules.ts'
import type { Subject } from './subjects.ts'

const mostSuggestions = 4

/** Returns rules that would allow a call, the narrowest first and the tool's name last. Pure. */
export function suggestRules(call: JudgedCall): readonly string[] {
  const { name, subjects } = call
  const patterns = Array.isArray(subjects) && subjects.length === 1 ? patternsOf(subjects[0] as Subject) : []
  const rules = [...patterns.map((pattern) => `${name}(${pattern})`), name]
  return [...new Set(rules)].filter((rule) => wouldAllow(rule, call)).slice(0, mostSuggestions)
}

function patternsOf(subject: Subject): readonly string[] {
  if ('command' in subject) return commandPatterns(subject.command)
  if ('path' in subject) return [literal(subject.path, /[*?[{\\=]/), ...folderOf(subject.path)]
  if ('text' in subject) return [literal(subject.text, /[*=]/)]
  const url = URL.parse(subject.url)
  return [`=${subject.url}`, ...(url === null ? [] : [url.host])]
}

/** Returns the whole line as a pattern, in words if it has no more; then the first two words of a single command with anything after them. */
function commandPatterns(line: string): readonly string[] {
  const commands = simpleCommands(line)
  const [words = [], ...others] = commands ?? []
  const plain = words.join(' ')
  if (others.length > 0 || plain !== line.trim() || words.length === 0) return [`=${line}`]
  const [first = '', second] = words
  const isNamed = second !== undefined && /^[A-Za-z][\w:-]*$/.test(second)
  return [plain, `${isNamed ? `${first} ${second}` : first} *`]
}

const literal = (text: string, special: RegExp): string =>
  special.test(text) || !text.includes('/') ? `=${text}` : text

function folderOf(path: string): readonly string[] {
  const end = path.lastIndexOf('/')
  const folder = path.slice(0, Math.max(0, end))
  return folder === '' || /[*?[{\\=]/.test(folder) ? [] : [`${folder}/**`]
}

function wouldAllow(text: string, call: JudgedCall): boolean {
  const rule = readRule(text)
  if (typeof rule === 'string') return false
  const ruling = decideCall({ deny: [], ask: [], allow: [], granted: [rule] }, 'ask', { ...call, effects: 'none' })
  return ruling.rule === rule.text
}
