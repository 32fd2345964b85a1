import { nearWords } from '../../../../src/protocol/checks/nearestWord.ts'
import type { Replacement } from './fileEdit.ts'
import type { Site } from './site.ts'
import { innermost } from './suspects.ts'

const reserved = new Set(
  (
    'await async break case catch class const continue default delete do else export extends finally for from function if import ' +
    'in instanceof let new of return static super switch this throw try typeof undefined null true false var void while with ' +
    'yield NaN Infinity Math Number String Object Array Set Map JSON Promise Error console process'
  ).split(' '),
)
const builtins =
  'length push pop shift unshift slice splice concat join map filter reduce find findIndex some every includes indexOf sort ' +
  'reverse flat flatMap keys values entries forEach toFixed toString toUpperCase toLowerCase trim trimStart trimEnd split ' +
  'replace replaceAll startsWith endsWith padStart padEnd charAt charCodeAt repeat substring has get set add delete clear size'
const builtinNames = builtins.split(' ')

/** Corrects a misspelled name: one that an error reports as missing, or that occurs only once and resembles another. */
export function nameFixes({ token, failure, nameCounts }: Site): Replacement[] {
  const { text, start, end, type } = token
  if (type !== 'name' || reserved.has(text)) return []
  const isMissing = failure.missingName === text
  if (!isMissing && (nameCounts.get(text) !== 1 || text.length < 4 || builtinNames.includes(text))) return []
  const others = [...new Set([...nameCounts.keys(), ...builtinNames])].filter(
    (name) => name !== text && !reserved.has(name),
  )
  return nearWords(text, others)
    .slice(0, 3)
    .map((name) => ({ start, end, text: name }))
}

/** Returns other names in the same function: parameters and variables for a variable, properties for a property. */
export function sameKindNames({ token, index, file }: Site): Replacement[] {
  const { tokens, functions } = file
  if (token.type !== 'name' || reserved.has(token.text)) return []
  const isProperty = (i: number): boolean => tokens[i - 1]?.text === '.' || tokens[i - 1]?.text === '?.'
  const isCalled = (i: number): boolean => tokens[i + 1]?.text === '('
  const inside = innermost(functions, index)
  if (inside === undefined || index <= inside.first) return []
  if (tokens[index + 1]?.text === '=>' || isDeclared(tokens[index - 1]?.text)) return []
  if (!isProperty(index) && index < inside.body) return []
  const [from, to] = isProperty(index) ? [0, tokens.length - 1] : [inside.first + 1, inside.last]
  const names = new Set<string>()
  for (let i = from; i <= to; i++) {
    const { type, text } = tokens[i]!
    if (type !== 'name' || reserved.has(text) || text === token.text) continue
    if (isProperty(i) === isProperty(index) && isCalled(i) === isCalled(index)) names.add(text)
  }
  return [...names].slice(0, 6).map((text) => ({ start: token.start, end: token.end, text }))
}

const isDeclared = (before: string | undefined): boolean =>
  ['const', 'let', 'var', 'function', 'class'].includes(before ?? '')
