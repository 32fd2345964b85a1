import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { defaultFoldPolicy } from '../../../src/conversation/brakes/fold/planFold.ts'
import { byKind } from './byKind.ts'
import { compare, type Row } from './compare.ts'
import { generateSession } from './generate/generateSession.ts'
import { type KindName, kinds, type SeedSet, seedSets } from './generate/kinds.ts'
import { type CacheName, cacheNames } from './measure/cacheMeter.ts'
import { prices } from './measure/prices.ts'
import { chartOf } from './output/chart.ts'
import { kindTables } from './output/kindTable.ts'
import { markdownTable, priceTable, remarks } from './output/table.ts'
import { type FoldOptions, policiesFor } from './policies/policies.ts'
import { compositionsFor } from './policies/compositions.ts'
import type { Policy } from './policies/policy.ts'
import { readSession } from './readers/readSession.ts'
import { type RecordedSession, ReplayError, stepsOf } from './recordedSession.ts'
import { stallCommand } from './stalls/stallCommand.ts'

const usage = `npm run replay -- [session…] [options]

A session is a file or a folder: see tools/bench/replay/README.md for the formats.

  --generate <replies>   also replay a generated session of about so many replies
  --seed <number>        of the generated session (default 1)
  --kind <name>          of the generated session: ${Object.keys(kinds).join(', ')} (default ${Object.keys(kinds)[0]})
  --by-kind              folding on generated sessions of all kinds, and on those given: costs, names gone, short runs, no cache
  --seeds <set>          with --by-kind: ${Object.keys(seedSets).join(' or ')} (default ${Object.keys(seedSets)[0]})
  --sessions <number>    with --by-kind: sessions of each kind of 50 requests and more (default 20)
  --compositions         the compositions of policies, and folding, in place of the usual rows
  --policies <a,b,…>     only these rows (default: all)
  --compact-at <tokens>  where compaction and masking begin (default 100000)
  --cache <name>         ${cacheNames.join(', ')} (default ideal, with --by-kind 5m)
  --fold <a=1,b=2,…>     options of folding, such as phi=.15,keepSteps=6
  --unit <tokens>        of the provider in four characters (default 1; measured: 1.45)
  --prices <name>        ${Object.keys(prices).join(', ')} (default ${Object.keys(prices)[0]})
  --json                 print figures as JSON
  --svg <file>           draw the tokens of each request, of the first session
  --stall                how well loops are noticed, on generated runs, or on the files or folders of runs with outcomes that are given
  --runs <number>        with --stall: generated runs of each shape (default 10); with --by-kind: short runs (default 200)
`

const options = {
  generate: { type: 'string' },
  seed: { type: 'string', default: '1' },
  kind: { type: 'string', default: Object.keys(kinds)[0]! },
  'by-kind': { type: 'boolean', default: false },
  seeds: { type: 'string', default: Object.keys(seedSets)[0]! },
  sessions: { type: 'string', default: '20' },
  cache: { type: 'string' },
  fold: { type: 'string' },
  unit: { type: 'string', default: '1' },
  compositions: { type: 'boolean', default: false },
  policies: { type: 'string' },
  'compact-at': { type: 'string', default: '100000' },
  prices: { type: 'string', default: Object.keys(prices)[0]! },
  json: { type: 'boolean', default: false },
  svg: { type: 'string' },
  stall: { type: 'boolean', default: false },
  runs: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

/**
 * Does what the command line says, and gives what it prints. `--svg` writes a file.
 *
 * @throws ReplayError for anything the caller got wrong; RuntimeError for a damaged log.
 */
export async function replayCommand(args: readonly string[]): Promise<string> {
  const { values, positionals } = parsedArgs(args)
  const isIdle = !values.stall && !values['by-kind'] && positionals.length === 0 && values.generate === undefined
  if (values.help || isIdle) return usage
  oneOf('prices', values.prices, prices)
  if (values.stall)
    return await stallCommand(positionals, {
      runs: wholeNumber('runs', values.runs ?? '10'),
      seed: wholeNumber('seed', values.seed),
      priceName: values.prices,
      json: values.json,
    })
  const fold = foldOptions(values.fold)
  const sessions: RecordedSession[] = []
  for (const path of positionals) sessions.push(await readSession(path, positive('unit', values.unit)))
  if (values['by-kind']) return await kindsIn(values, fold, sessions)
  const cache = oneOf('cache', values.cache ?? 'ideal', cachesByName)
  const compactAt = wholeNumber('compact-at', values['compact-at'])
  const rows = values.compositions ? compositionsFor(compactAt, fold) : policiesFor(compactAt, fold)
  const policies = chosen(rows, values.policies)
  if (values.generate !== undefined) sessions.push(generated(values.generate, values))
  const results: Result[] = []
  for (const session of sessions)
    results.push({ session, rows: await compare(session, policies, values.prices, cache) })
  if (values.svg !== undefined) await writeFile(values.svg, chartOf(results[0]!.rows, results[0]!.session.name))
  return values.json ? JSON.stringify(results.map(asJson), null, 2) : results.map(asText).join('\n\n')
}

type Values = ReturnType<typeof parsedArgs>['values']

function generated(replies: string, { seed, kind, unit }: Values): RecordedSession {
  const session = generateSession(
    oneOf<KindName>('kind', kind, kinds),
    wholeNumber('seed', seed),
    wholeNumber('generate', replies),
  )
  return { ...session, unit: positive('unit', unit) }
}

async function kindsIn(values: Values, fold: FoldOptions, recordings: readonly RecordedSession[]): Promise<string> {
  const rows = await byKind({
    seeds: oneOf<SeedSet>('seeds', values.seeds, seedSets),
    sessions: wholeNumber('sessions', values.sessions),
    runs: wholeNumber('runs', values.runs ?? '200'),
    cache: oneOf('cache', values.cache ?? '5m', cachesByName),
    unit: positive('unit', values.unit),
    prices: prices[values.prices]!,
    fold,
    recordings,
  })
  return values.json ? JSON.stringify(rows, null, 2) : kindTables(rows)
}

const cachesByName = Object.fromEntries(cacheNames.map((name) => [name, name])) as Record<CacheName, CacheName>

function oneOf<Name extends string>(option: string, name: string, among: Readonly<Record<Name, unknown>>): Name {
  if (Object.hasOwn(among, name)) return name as Name
  throw new ReplayError(`There are no ${option} of ${name}: take ${Object.keys(among).join(', ')}.`)
}

function foldOptions(given: string | undefined): FoldOptions {
  if (given === undefined) return true
  const pairs = given.split(',').map((pair): [string, number] => {
    const [name = '', value = ''] = pair.split('=')
    if (!Object.hasOwn(defaultFoldPolicy, name) || value === '' || !Number.isFinite(Number(value)))
      throw new ReplayError(
        `--fold takes ${Object.keys(defaultFoldPolicy).join(', ')}, each with a number, not ${pair}.`,
      )
    return [name, Number(value)]
  })
  return Object.fromEntries(pairs)
}

interface Result {
  readonly session: RecordedSession
  readonly rows: readonly Row[]
}

function parsedArgs(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (thrown) {
    throw new ReplayError(`${(thrown as Error).message}\n\n${usage}`)
  }
}

function chosen(policies: readonly Policy[], names: string | undefined): readonly Policy[] {
  if (names === undefined) return policies
  return names.split(',').map((name) => {
    const found = policies.find((policy) => policy.name === name.trim())
    if (found !== undefined) return found
    throw new ReplayError(`There is no policy ${name}: take ${policies.map((policy) => policy.name).join(', ')}.`)
  })
}

function wholeNumber(option: string, given: string): number {
  const number = Number(given)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new ReplayError(`--${option} takes a positive whole number, not ${given}.`)
}

function positive(option: string, given: string): number {
  const number = Number(given)
  if (Number.isFinite(number) && number > 0) return number
  throw new ReplayError(`--${option} takes a number above 0, not ${given}.`)
}

function asText({ session, rows }: Result): string {
  const said = [...session.notes.map((note) => `- ${note}`), ...remarks(rows).map((remark) => `- ${remark}`)]
  return [
    `## ${session.name} (${session.format}, ${stepsOf(session).length} replies)`,
    ...(said.length === 0 ? [] : [said.join('\n')]),
    markdownTable(rows),
    'Cost × by the prices of others:',
    priceTable(rows),
  ].join('\n\n')
}

const asJson = ({ session, rows }: Result) => ({
  session: session.name,
  format: session.format,
  replies: stepsOf(session).length,
  notes: session.notes,
  rows,
})
