import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { compare, type Row } from './compare.ts'
import { generateSession } from './generate/generateSession.ts'
import { prices } from './measure/prices.ts'
import { chartOf } from './output/chart.ts'
import { markdownTable, priceTable, remarks } from './output/table.ts'
import { policiesFor } from './policies/policies.ts'
import { compositionsFor } from './policies/compositions.ts'
import type { Policy } from './policies/policy.ts'
import { readSession } from './readers/readSession.ts'
import { type RecordedSession, ReplayError, stepsOf } from './recordedSession.ts'
import { stallCommand } from './stalls/stallCommand.ts'

const usage = `npm run replay -- [session…] [options]

A session is a file or a folder: see tools/bench/replay/README.md for the formats.

  --generate <replies>   also replay a generated session of about so many replies
  --seed <number>        of the generated session (default 1)
  --compositions         the compositions of policies, and folding, in place of the usual rows
  --policies <a,b,…>     only these rows (default: all)
  --compact-at <tokens>  where compaction and masking begin (default 100000)
  --prices <name>        ${Object.keys(prices).join(', ')} (default ${Object.keys(prices)[0]})
  --json                 print figures as JSON
  --svg <file>           draw the tokens of each request, of the first session
  --stall                how well loops are noticed, on generated runs, or on the files or folders of runs with outcomes that are given
  --runs <number>        with --stall: generated runs of each shape (default 10)
`

const options = {
  generate: { type: 'string' },
  seed: { type: 'string', default: '1' },
  compositions: { type: 'boolean', default: false },
  policies: { type: 'string' },
  'compact-at': { type: 'string', default: '100000' },
  prices: { type: 'string', default: Object.keys(prices)[0]! },
  json: { type: 'boolean', default: false },
  svg: { type: 'string' },
  stall: { type: 'boolean', default: false },
  runs: { type: 'string', default: '10' },
  help: { type: 'boolean', default: false },
} as const

/**
 * Does what the command line says, and gives what it prints. `--svg` writes a file.
 *
 * @throws ReplayError for anything the caller got wrong; RuntimeError for a damaged log.
 */
export async function replayCommand(args: readonly string[]): Promise<string> {
  const { values, positionals } = parsedArgs(args)
  if (values.help || (!values.stall && positionals.length === 0 && values.generate === undefined)) return usage
  if (prices[values.prices] === undefined)
    throw new ReplayError(`There are no prices of ${values.prices}: take ${Object.keys(prices).join(', ')}.`)
  if (values.stall)
    return await stallCommand(positionals, {
      runs: wholeNumber('runs', values.runs),
      seed: wholeNumber('seed', values.seed),
      priceName: values.prices,
      json: values.json,
    })
  const compactAt = wholeNumber('compact-at', values['compact-at'])
  const rows = values.compositions ? compositionsFor(compactAt) : policiesFor(compactAt)
  const policies = chosen(rows, values.policies)
  const sessions: RecordedSession[] = []
  for (const path of positionals) sessions.push(await readSession(path))
  if (values.generate !== undefined)
    sessions.push(generateSession(wholeNumber('generate', values.generate), wholeNumber('seed', values.seed)))
  const results: Result[] = []
  for (const session of sessions) results.push({ session, rows: await compare(session, policies, values.prices) })
  if (values.svg !== undefined) await writeFile(values.svg, chartOf(results[0]!.rows, results[0]!.session.name))
  return values.json ? JSON.stringify(results.map(asJson), null, 2) : results.map(asText).join('\n\n')
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
