/**
 * Calls every operation of OpenAPI documents and compares each request with that of another client:
 * `node tools/bench/openApiWire.ts --client <folder> [--show <number>] <document>…`. A document is a path or an address. The folder has
 * `swagger-client` and `qs` installed (`npm install swagger-client qs`). Nothing is sent.
 */
import { parseArgs } from 'node:util'
import { openApiTools } from '../../src/openapi.ts'
import { messageOf } from '../../src/protocol/errors.ts'
import { systemClock } from '../../src/protocol/ports/clock.ts'
import { differences, type Difference } from './openApiWire/compare.ts'
import { documentAt, type Json, operationAt, textOf } from './openApiWire/reading.ts'
import { host, type Reference, referenceIn } from './openApiWire/reference.ts'
import { Samples } from './openApiWire/samples.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { client: { type: 'string' }, show: { type: 'string', default: '3' } },
})
if (values.client === undefined || positionals.length === 0)
  throw new Error('Give --client <folder with swagger-client and qs> and documents, as paths or addresses.')

let sent: Request | undefined
globalThis.fetch = async (address, init) => {
  sent = new Request(address, init)
  return Response.json({})
}

const reference = referenceIn(values.client)
for (const place of positionals) report(place, await compare(await documentAt(place), reference))

interface Compared {
  readonly counts: { [kind: string]: number }
  readonly notes: { readonly [kind: string]: string[] }
}

async function compare(document: Json, other: Reference): Promise<Compared> {
  const servers =
    'swagger' in document && document['host'] === undefined
      ? [`https://${host}${textOf(document['basePath'])}`]
      : undefined
  const source = await openApiTools(document, {
    maxTools: 100_000,
    approve: 'none',
    ...(servers === undefined ? {} : { servers }),
  })
  const tools = new Map(source.open({ clock: systemClock }).tools.map((tool) => [tool.name, tool]))
  const notes: { [kind: string]: string[] } = {}
  const counts: { [kind: string]: number } = {}
  const count = (kind: string, note?: string): void => {
    counts[kind] = (counts[kind] ?? 0) + 1
    if (note !== undefined) (notes[kind] ??= []).push(note)
  }
  for (const left of source.leftOut) count('left out', left)
  for (const { name, method, path } of source.operations) {
    const tool = tools.get(name)!
    const at = `${method} ${path}`
    const tried = [14, 1, 0].map((most) => new Samples(tool.inputSchema, most).all())
    const input = tried.find((one) => tool.parse(one).ok) ?? tried[0]!
    const parsed = tool.parse(input)
    if (!parsed.ok) {
      count('arguments refused', `${at}: ${parsed.message}`)
      continue
    }
    try {
      sent = undefined
      const context = { signal: new AbortController().signal, key: 'k', callId: 'c', report: () => {} }
      await (tool.run as (value: unknown, context: object) => unknown)(parsed.value, context)
      const operation = operationAt(document, path, method)
      const type = sent!.headers.get('content-type')?.split(';')[0] ?? ''
      const wanted = other.request(operation, { path, document, type }, input)
      const found = await differences({ sent: sent!, wanted, operation, input, reference: other })
      if (found.length === 0) count('equal')
      else for (const kind of new Set(found.map(kindOf))) count(kind, `${at}: ${JSON.stringify(found).slice(0, 600)}`)
    } catch (thrown) {
      count('not compared', `${at}: ${messageOf(thrown)}`)
    }
  }
  return { counts: { operations: source.operations.length, ...counts }, notes }
}

function kindOf({ what, argued }: Difference): string {
  return argued === undefined ? `DIFFERS: ${what}` : `${what}: ${argued}`
}

function report(place: string, { counts, notes }: Compared): void {
  process.stdout.write(`\n${place}\n`)
  for (const [kind, count] of Object.entries(counts)) {
    process.stdout.write(`${String(count).padStart(6)}  ${kind}\n`)
    if (/^(?:DIFFERS|arguments|not|left)/.test(kind))
      for (const note of (notes[kind] ?? []).slice(0, Number(values.show))) process.stdout.write(`        ${note}\n`)
  }
}
