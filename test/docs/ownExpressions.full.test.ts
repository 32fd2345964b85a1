import { join } from 'node:path'
import { judge, judged } from '../judges/judge.ts'
import { assert, describe } from '../support/suite.ts'
import { expressionsIn, isPlainlyLinear, ownExpressions, type OwnExpression } from './ownExpressions.ts'

interface Verdict {
  readonly status: 'safe' | 'vulnerable' | 'unknown'
  readonly complexity?: { readonly summary: string }
  readonly attack?: { readonly pattern: string }
}
interface Checker {
  checkSync(source: string, flags: string, options: typeof untimed): Verdict
}

/** The expressions that the judge takes for costly, and why they are not: by their text, as they stand in the source. */
const argued: Readonly<Record<string, string>> = {
  [String.raw`^\{[^\r\n\u2028\u2029]{0,40}escapement\.session|^\{[^\r\n\u2028\u2029]*"type":"agent\.created"`]:
    'begins once in each line, and nothing of it goes beyond the line',
}

/** Its verdict does not go by how busy the machine is. */
const untimed = { timeout: null, attackTimeout: null, incubationTimeout: null, randomSeed: 1 } as const

/** Repetitions with a bound as two or three: the judge unfolds them, and a constant makes no expression quadratic. */
const unfolded = (source: string): string =>
  source.replaceAll(/\{(\d+)(,?)(\d*)\}/g, (_, least: string, comma: string, most: string) => {
    const from = Math.min(Number(least), 2)
    return `{${from}${comma}${most === '' ? '' : Math.max(from, Math.min(Number(most), 3))}}`
  })

async function wrongIn(expressions: readonly OwnExpression[]): Promise<readonly string[]> {
  // Its own build in JavaScript, not a program of the platform.
  process.env['RECHECK_BACKEND'] = 'pure'
  const { checkSync } = await judge<Checker>('recheck')
  return expressions.flatMap(({ source, flags, at }) => {
    const { status, complexity, attack } = checkSync(unfolded(source), flags.replaceAll(/[dgv]/g, ''), untimed)
    if (status === 'safe') return []
    return [`${at}: /${source}/${flags} is ${complexity?.summary ?? status}, by ${attack?.pattern ?? 'no example'}`]
  })
}

describe('the regular expressions of the sources', (it) => {
  const judges = judged(it)

  judges('take no longer than a text has characters, or are argued for', { timeoutMs: 600_000 }, async () => {
    const all = await ownExpressions(join(import.meta.dirname, '..', '..'))
    assert.ok(all.length > 500)
    const toJudge = all.filter((one) => !isPlainlyLinear(one))
    const isArgued = ({ source }: OwnExpression): boolean => Object.hasOwn(argued, source)
    assert.equal(await wrongIn(toJudge.filter((one) => !isArgued(one))), [])
    const gone = Object.keys(argued).filter((source) => !toJudge.some((one) => one.source === source))
    assert.equal(gone, [])
  })

  judges('are found costly where they are', { timeoutMs: 60_000 }, async () => {
    const code = String.raw`const a = [/(a+)+$/, /\s+$/u, new RegExp('x*' + "y*x*z"), RegExp([String.raw${'`'}^(\w+\s?)*$${'`'}, 'b'].join('|'), 'i')]`
    const found = expressionsIn('a.ts', `// one\n${code}`)
    assert.equal(
      found.map(({ source, flags, at }) => `${at} /${source}/${flags}`),
      ['/(a+)+$/', '/\\s+$/u', '/x*y*x*z/', '/^(\\w+\\s?)*$|b/i'].map((text) => `a.ts:2 ${text}`),
    )
    assert.not.ok(found.some(isPlainlyLinear))
    const wrong = await wrongIn(found)
    assert.is(wrong.length, 4)
    assert.match(wrong[0]!, /^a\.ts:2: \/\(a\+\)\+\$\/ is exponential/)
  })

  it('are linear by their form where one repetition has no bound and nothing can fail after it, or one beginning', () => {
    const of = (source: string, flags = ''): boolean => isPlainlyLinear({ source, flags, at: '' })
    const plain = ['a+', 'ab|c{2,}', '^a*b', '^a*b|^c+', 'x(?:a|b){1,9}y', '(?<!a)b+', 'x(a+)']
    const others = [
      'a+b',
      'a*b+',
      '(?:a+)+',
      '(?:ab)+',
      'x(?:a+)?',
      '^a+b*c',
      'c|a+b',
      '(?:a+){2}',
      '(?=a+)b',
      '(a)\\1+',
    ]
    assert.equal(
      plain.filter((source) => !of(source)),
      [],
    )
    assert.equal(
      others.filter((source) => of(source)),
      [],
    )
    assert.not.ok(of('^a*b', 'm'))
  })
})
