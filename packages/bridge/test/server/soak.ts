/**
 * Many clients drive agents over a real server for minutes, while sockets are cut and the server's process is killed and started
 * again on the same folder. Prints what was done and the memory of both sides; exits with 1 when something was lost, came twice or
 * did not end. Uses loopback alone, and ends by itself two minutes after its time at the latest.
 *
 *   node --expose-gc packages/bridge/test/server/soak.ts [--minutes 10] [--clients 50] [--seed 1] [--cuts 10] [--restart-seconds 60]
 *
 * `--cuts`: sockets cut a second; `--restart-seconds`: from one death of the server to the next, 0 for none.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import type { Client } from '../../src/client/client.ts'
import { connect } from '../../src/client/connect.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { rebuildConversation } from '../../../../src/conversation/tree/rebuildConversation.ts'
import { sessionOf } from '../../../sessions/src/sessionProjection.ts'
import { Dice } from '../../../../test/tree/dice.ts'
import { Heard } from './bridgeHarness.ts'
import { checkHeard, checkOnce, checkResult, checkTexts, type Given } from './resume/resumeChecks.ts'
import { startServerProcess, type ServerProcess } from './resume/serverProcess.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    cuts: { type: 'string', default: '10' },
    'restart-seconds': { type: 'string', default: '60' },
  },
})
const numberOf = (name: keyof typeof values): number => {
  const value = Number(values[name])
  if (Number.isFinite(value) && value >= 0) return value
  throw new Error(`--${name} takes a number, not ${values[name]}`)
}
const [minutes, clients, seed] = [numberOf('minutes'), numberOf('clients'), numberOf('seed')]
const [cutsPerSecond, restartSeconds] = [numberOf('cuts'), numberOf('restart-seconds')]

/** Agents that a client drives before another client takes its place. */
const agentsPerClient = 5
const reportMs = 10_000
/** For what is under way when the time is over. */
const settleMs = 120_000

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const faults: string[] = []
const fault = (what: string): void => {
  faults.push(what)
  if (faults.length <= 20) print(`FAULT ${what}`)
}
process.on('unhandledRejection', (thrown) => fault(`unhandled rejection: ${String(thrown)}`))
process.on('uncaughtException', (thrown) => fault(`uncaught exception: ${String(thrown)}`))

const undo: (() => unknown)[] = []
const server = await startServerProcess({ cleanup: (call) => undo.push(call) })
const over = performance.now() + minutes * 60_000
const isOver = (): boolean => performance.now() >= over
const totals = { agents: 0, runs: 0, turns: 0, records: 0, cuts: 0, clients: 0 }

/** Sockets that are there now, to be cut. */
const sockets = new Set<WebSocket>()
class KnownSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols)
    sockets.add(this)
    this.on('close', () => sockets.delete(this))
  }
}

/** One agent from its birth to its end, by what its client heard and what the log has. */
async function driveAgent(client: Client, dice: Dice, name: string): Promise<void> {
  const agent = await client.spawn('looking', { id: name })
  const heard = new Heard()
  agent.subscribe(heard.listen, { fromSeq: 1 })
  const given: Given[] = []
  const runs: { readonly id: string; readonly result: Awaited<ReturnType<typeof agent.prompt>['result']> }[] = []
  const prompts = dice.int(3, 10)
  for (let n = 0; n < prompts; n += 1) {
    const text = `prompt ${n} of ${name}, ${dice.int(1, 12)} turns`
    const entry: Given = { kind: 'prompt', text, outcome: undefined }
    given.push(entry)
    const run = agent.prompt(text)
    const result = await run.result
    entry.outcome = result.error === undefined ? 'done' : 'refused'
    if (result.stopReason !== 'stop') fault(`${name}: "${text}" ended with ${JSON.stringify(result)}`)
    runs.push({ id: run.requestId, result })
    totals.runs += 1
    await sleep(dice.int(0, 100))
  }
  const remote = await agent.conversation('log')
  await agent.stop()
  await heard.until(({ type }) => type === 'agent.stopped')
  const records = await server.log(name)
  check(name, heard, records)
  const told = [...checkOnce(given, records), ...runs.flatMap(({ id, result }) => checkResult(id, result, records))]
  const local = rebuildConversation(records).log()
  if (
    !isDeepStrictEqual(
      remote.nodes.map(({ message }) => message),
      local.map(({ message }) => message),
    )
  )
    told.push('the server’s conversation is not that of the log')
  for (const what of told) fault(`${name}: ${what}`)
  totals.agents += 1
  totals.records += records.length
  totals.turns += records.filter(({ type }) => type === 'turn.start').length
}

function check(name: string, heard: Heard, records: readonly LogRecord[]): void {
  for (const what of [...checkHeard(heard.events, records, name), ...checkTexts(heard.events)])
    fault(`${name}: ${what}`)
  if (!isDeepStrictEqual(sessionOf(heard.logged as LogRecord[]), sessionOf(records)))
    fault(`${name}: what was heard folds to another session than the log`)
}

/** One place of a client: client after client, each with some agents. */
async function drive(place: number): Promise<void> {
  const dice = new Dice(seed * 1_000 + place)
  for (let life = 0; !isOver(); life += 1) {
    const client = connect(server.url, { webSocket: KnownSocket, retry: { baseMs: 5, maxMs: 500 }, random: dice.roll })
    totals.clients += 1
    client.onError(({ code, message }) => {
      // A client that is begun while the server is dead says so, and goes on.
      if (code !== 'BRIDGE_UNREACHABLE') fault(`client ${place}: ${code}: ${message}`)
    })
    try {
      for (let n = 0; n < agentsPerClient && !isOver(); n += 1) await driveAgent(client, dice, `a${place}-${life}-${n}`)
    } catch (thrown) {
      fault(`client ${place}: ${String(thrown)}`)
      await sleep(1_000)
    }
    client.close()
  }
}

async function cutSockets(dice: Dice): Promise<void> {
  if (cutsPerSecond === 0) return
  while (!isOver()) {
    await sleep(1_000 / cutsPerSecond)
    const unlucky = [...sockets][dice.int(0, sockets.size - 1)]
    if (unlucky === undefined) continue
    totals.cuts += 1
    unlucky.terminate()
  }
}

async function killServer(dice: Dice): Promise<void> {
  if (restartSeconds === 0) return
  while (!isOver()) {
    await sleep(Math.min(restartSeconds * dice.int(500, 1_500), Math.max(0, over - performance.now())))
    if (!isOver()) await server.killAndStart()
  }
}

/** Resident memory of the server in bytes, where the system tells. */
async function serverMemory({ pid }: ServerProcess): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

interface Sample {
  readonly heap: number
  readonly rss: number
  readonly server: number | undefined
}
const samples: Sample[] = []
const mega = (bytes: number | undefined): string =>
  bytes === undefined ? '     ?' : `${(bytes / 1024 / 1024).toFixed(0)} MB`.padStart(6)

async function report(started: number): Promise<void> {
  ;(globalThis as { gc?: () => void }).gc?.()
  const { heapUsed: heap, rss } = process.memoryUsage()
  const sample = { heap, rss, server: await serverMemory(server) }
  samples.push(sample)
  const seconds = String(Math.round((performance.now() - started) / 1_000)).padStart(4)
  const done = `${totals.runs} runs, ${totals.agents} agents, ${totals.cuts} cuts, ${server.lives - 1} deaths`
  print(`${seconds} s  ${done}  clients: heap ${mega(heap)} rss ${mega(rss)}  server: rss ${mega(sample.server)}`)
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length
/** The mean of the second third of the samples, and of the last: what goes up for ever shows. */
function trend(what: string, pick: (sample: Sample) => number | undefined): void {
  const seen = samples.map(pick).filter((value) => value !== undefined)
  const third = Math.floor(seen.length / 3)
  if (third === 0) return
  print(
    `${what.padEnd(18)} second third ${mega(mean(seen.slice(third, 2 * third)))}, last third ${mega(mean(seen.slice(-third)))}`,
  )
}

const started = performance.now()
const reporting = setInterval(() => void report(started), reportMs)
const places = Array.from({ length: clients }, (_, place) => drive(place))
const troubles = [cutSockets(new Dice(seed)), killServer(new Dice(seed + 1))]
const late = sleep(minutes * 60_000 + settleMs, 'late' as const, { ref: false })
const end = await Promise.race([Promise.all([...places, ...troubles]), late])
if (end === 'late') fault(`not everything ended within ${settleMs / 1_000} s after the time was over`)
clearInterval(reporting)
await report(started)

print('')
for (const [what, number] of Object.entries({ ...totals, deaths: server.lives - 1, faults: faults.length }))
  print(what.padEnd(16) + String(number).padStart(10))
trend('heap of clients', ({ heap }) => heap)
trend('memory of clients', ({ rss }) => rss)
trend('memory of server', ({ server: bytes }) => bytes)
for (const call of undo.toReversed()) await call()
process.exit(faults.length === 0 ? 0 : 1)
