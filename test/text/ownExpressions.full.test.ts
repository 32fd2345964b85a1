import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { judge, judged } from '../judges/judge.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const root = join(import.meta.dirname, '..', '..')

interface Verdict {
  readonly status: 'safe' | 'vulnerable' | 'unknown'
  readonly complexity?: { readonly summary: string }
  readonly attack?: { readonly pattern: string }
}
interface Recheck {
  check(source: string, flags: string, options: { readonly timeout: number }): Promise<Verdict>
}

/** Expressions that recheck flags, and what bounds the texts that they meet. */
const bounded: Readonly<Record<string, string>> = {
  [String.raw`/\[(exit code (\d+)|killed by \w+|timed out[^[\]]*?|aborted) after ([\d.]+) s[^[\]]*\]\s*$/`]:
    'the last 1,000 characters of what a command printed',
  [String.raw`/(?<![\w.])\d{1,9}(?:\.\d{1,9})?[ \t]{0,3}(?:ms|s|secs?|seconds?|min|minutes?)\b|\bduration_ms[:= ]{1,3}[\d.]{1,20}|\b(?:\d{4}-\d{2}-\d{2}[T ])?\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z\b|[+-]\d{2}:?\d{2}\b)?/g`]:
    'each of its quantifiers has a limit',
}

interface Expression {
  readonly pattern: string
  readonly flags: string
}

const isExpression = (value: object): value is { readonly regex: Expression } =>
  'regex' in value && typeof value.regex === 'object' && value.regex !== null

/** The regular expressions in a part of a program. */
function expressionsIn(part: unknown): readonly Expression[] {
  if (typeof part !== 'object' || part === null) return []
  if (isExpression(part)) return [part.regex]
  return Object.values(part).flatMap(expressionsIn)
}

/** Every regular expression that is written in what we ship, with the files that have it. */
function written(): ReadonlyMap<string, Expression & { readonly files: readonly string[] }> {
  const found = new Map<string, Expression & { readonly files: string[] }>()
  for (const file of globSync(['src/**/*.{ts,tsx}', 'create-escapement/{src,templates}/**/*.{ts,tsx}'], {
    cwd: root,
  })) {
    if (file.includes('node_modules')) continue
    const program = parseAst(readFileSync(join(root, file), 'utf8'), { lang: file.endsWith('x') ? 'tsx' : 'ts' })
    for (const { pattern, flags } of expressionsIn(program)) {
      const key = `/${pattern}/${flags}`
      const known = found.get(key) ?? { pattern, flags, files: [] }
      found.set(key, known)
      known.files.push(file)
    }
  }
  return found
}

/** In a thread: a program of its own would be left running. */
async function checker({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<Recheck['check']> {
  process.env['RECHECK_BACKEND'] = 'worker'
  cleanup(() => void delete process.env['RECHECK_BACKEND'])
  return (await judge<Recheck>('recheck')).check
}

/** Its reader knows no sets. */
const flagsOf = (flags: string): string => flags.replace(/[vd]/g, '')

describe('a regular expression of ours', (it) => {
  judged(it)(
    'takes no text longer than its length, but for some whose texts are short',
    { timeoutMs: 900_000 },
    async (context) => {
      const check = await checker(context)
      const verdict = async ({ pattern, flags }: Expression, timeout: number): Promise<Verdict> =>
        check(pattern, flagsOf(flags), { timeout })
      const sure = expressionsIn(parseAst('const a: RegExp = /x+$/u; f(() => [/b/])', { lang: 'ts' }))
      const statuses = await Promise.all(sure.map(async (one) => (await verdict(one, 60_000)).status))
      assert.equal(statuses, ['vulnerable', 'safe'], 'it finds what is written, and flags what is costly')
      const all = written()
      assert.ok(all.size > 400, `${all.size} expressions`)
      const wrong: string[] = []
      for (const [key, { files, ...expression }] of all) {
        // What is not known in time is no verdict.
        const { status, complexity, attack } = await verdict(expression, 5_000)
        if (status !== 'vulnerable') continue
        if (!Object.hasOwn(bounded, key))
          wrong.push(`${files.join(', ')}: ${key} is a ${complexity?.summary}, as for ${attack?.pattern}`)
      }
      assert.is(wrong.join('\n'), '', 'scan by hand, bound the text first, or say in this file what bounds it')
      assert.equal(
        Object.keys(bounded).filter((key) => !all.has(key)),
        [],
        'these are not written any more',
      )
    },
  )
})
