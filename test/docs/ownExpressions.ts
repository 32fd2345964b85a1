import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSync, Visitor, type ESTree } from 'vite'
import { readPattern, type PatternPart } from '../../packages/schemas/src/patternSyntax.ts'

/** A regular expression that stands in a source. */
export interface OwnExpression {
  readonly source: string
  readonly flags: string
  /** `folder/file.ts:12`. */
  readonly at: string
}

/** Those of a source: the literals, and what is made of constant text by `RegExp`. */
export function expressionsIn(file: string, code: string): readonly OwnExpression[] {
  const found: OwnExpression[] = []
  const add = (source: string, flags: string, { start }: { readonly start: number }): void => {
    found.push({ source, flags, at: `${file}:${code.slice(0, start).split('\n').length}` })
  }
  const made = (node: ESTree.CallExpression | ESTree.NewExpression): void => {
    const { callee, arguments: given } = node
    const source = callee.type === 'Identifier' && callee.name === 'RegExp' ? textOf(given[0]) : undefined
    if (source !== undefined) add(source, textOf(given[1]) ?? '', node)
  }
  const literal = (node: ESTree.StringLiteral | ESTree.RegExpLiteral | { readonly type: string }): void => {
    if ('regex' in node) add(node.regex.pattern, node.regex.flags, node)
  }
  new Visitor({ Literal: literal, NewExpression: made, CallExpression: made }).visit(parseSync(file, code).program)
  return found
}

/** The text of an expression that is constant: strings, templates without a value, sums and joined lists of them. */
function textOf(node: ESTree.Node | undefined): string | undefined {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined
  if (node?.type === 'TemplateLiteral') return wholeOf(node)?.cooked ?? undefined
  if (node?.type === 'TaggedTemplateExpression') return wholeOf(node.quasi)?.raw
  if (node?.type === 'BinaryExpression') {
    const parts = [textOf(node.left), textOf(node.right)]
    return parts.includes(undefined) ? undefined : parts.join('')
  }
  if (node?.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined
  const { object, property } = node.callee
  if (object.type !== 'ArrayExpression' || property.type !== 'Identifier' || property.name !== 'join') return undefined
  const parts = object.elements.map((each) => textOf(each ?? undefined))
  return parts.includes(undefined) ? undefined : parts.join(textOf(node.arguments[0]) ?? ',')
}

const wholeOf = ({ quasis, expressions }: ESTree.TemplateLiteral): ESTree.TemplateElement['value'] | undefined =>
  expressions.length === 0 ? quasis[0]?.value : undefined

/** All regular expressions of the sources of a repository, each once. */
export async function ownExpressions(root: string): Promise<readonly OwnExpression[]> {
  const files = globSync('{src,packages/*/src}/**/*.{ts,tsx}', { cwd: root }).toSorted()
  const found = await Promise.all(
    files.map(async (file) => expressionsIn(file, await readFile(join(root, file), 'utf8'))),
  )
  return [...new Map(found.flat().map((one) => [`/${one.source}/${one.flags}`, one])).values()]
}

/**
 * True if an expression is linear by its form, for which a judge would need seconds: of each of its choices one character at most is repeated without
 * bound, and either nothing follows that could fail, or the choice is tried at the beginning of the text alone. What is repeated with a bound counts as a constant.
 */
export function isPlainlyLinear({ source, flags }: OwnExpression): boolean {
  try {
    const { part } = readPattern(source)
    return choicesOf(part).every((choice) => isLinearChoice(choice, flags.includes('m')))
  } catch {
    return false
  }
}

const choicesOf = (part: PatternPart): readonly PatternPart[] => (part.type === 'choice' ? part.parts : [part])

function isLinearChoice(choice: PatternPart, hasLines: boolean): boolean {
  const unbounded = repeatsIn(choice, false)
  if (unbounded.length === 0) return true
  const parts = choice.type === 'sequence' ? choice.parts : [choice]
  const [only] = unbounded
  if (unbounded.length > 1 || only !== 'once') return false
  const [first] = parts
  const last = parts.at(-1)!
  return (first?.type === 'edge' && first.edge === '^' && !hasLines) || endsWithRepeat(last)
}

const endsWithRepeat = (part: PatternPart): boolean =>
  part.type === 'sequence' ? endsWithRepeat(part.parts.at(-1)!) : part.type === 'repeat' && part.most === Infinity

/** How often each unbounded repeat of one character can be begun anew: once, or many times. */
function repeatsIn(part: PatternPart, isMany: boolean): readonly ('once' | 'many')[] {
  if (part.type === 'sequence' || part.type === 'choice') return part.parts.flatMap((each) => repeatsIn(each, isMany))
  if (part.type === 'look') return repeatsIn(part.part, true)
  if (part.type !== 'repeat') return []
  const inner = repeatsIn(part.part, isMany || part.most > 1)
  if (part.most !== Infinity) return inner
  return [part.part.type === 'character' && !isMany ? 'once' : 'many', ...inner]
}
