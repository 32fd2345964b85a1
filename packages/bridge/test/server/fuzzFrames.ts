/**
 * Sends a server frames that no server should take for commands, thousands at a time, over several connections one after the
 * other, and measures its memory as it goes: every frame is answered by an error, no agent is touched, nothing is kept.
 *
 *   node --expose-gc packages/bridge/test/server/fuzzFrames.ts [--count 100000] [--seed 1]
 *
 * Exits with 1 when an answer is missing or is none of these, an agent changed, or memory grew by more than 16 MiB after the first
 * tenth. Without --expose-gc memory is shown and not judged.
 */
import { parseArgs } from 'node:util'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { never, stalled } from '../../../../test/support/agentHarness.ts'
import { Dice } from '../../../../test/tree/dice.ts'
import { dial, Heard, logOf, serveAgents } from './bridgeHarness.ts'
import { wrongFrame } from './wrongFrame.ts'

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '100000' } },
})
const [seed, count] = [Number(values.seed), Number(values.count)]
for (const value of [seed, count]) if (!Number.isSafeInteger(value)) throw new Error('--seed and --count take numbers')
const print = (line: string): void => void process.stdout.write(`${line}\n`)

const batch = 1_000
const maxGrowth = 16 * 1024 * 1024
const faults: string[] = []
process.on('unhandledRejection', (thrown) => faults.push(`unhandled rejection: ${String(thrown)}`))
process.on('uncaughtException', (thrown) => faults.push(`uncaught exception: ${String(thrown)}`))

const undos: (() => unknown)[] = []
const context: Pick<CaseContext, 'cleanup'> = { cleanup: (undo) => void undos.push(undo) }
const definition = defineAgent({ name: 'busy', model: scriptedModel([stalled(['so far'], never)]) })
const serving = await serveAgents(context, [definition], {
  limits: { framesPerSecond: 1_000_000, waitingCommands: 1_000_000, drainMs: 50 },
})
const agent = await serving.runtime.spawn(definition, { id: 'a1' })
const heard = new Heard()
agent.subscribe(heard.listen)
agent.prompt('go')
await heard.until(({ type }) => type === 'reply.delta')
const stateOf = async (): Promise<string> =>
  JSON.stringify([agent.state, await logOf(serving.store, 'a1'), serving.runtime.agents().length])
const before = await stateOf()

const heap = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
const mebi = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1)

const dice = new Dice(seed)
const started = performance.now()
let base = heap()
let sent = 0
while (sent < count && faults.length === 0) {
  const bare = await dial(serving.server.url)
  bare.send({ type: 'hello' })
  await bare.until(({ type }) => type === 'welcome')
  const size = Math.min(batch, count - sent)
  for (let n = 0; n < size; n += 1) bare.send(wrongFrame(dice.roll))
  const { type } = await bare.ask({ type: 'agent.list' })
  const answers = bare.frames.filter((frame) => frame.type === 'error')
  if (type !== 'ok') faults.push('the right frame after the wrong ones was not answered')
  if (answers.length !== size) faults.push(`${answers.length} of ${size} frames were answered`)
  const odd = answers.find(({ code, message }) => code !== 'BRIDGE_FRAME' || message.length >= 1_000)
  if (odd !== undefined) faults.push(`answered ${odd.code}: ${odd.message.slice(0, 200)}`)
  if ((await stateOf()) !== before) faults.push('the agent or its log is another')
  if (({} as { polluted?: unknown }).polluted !== undefined) faults.push('a prototype was changed')
  bare.socket.close()
  await bare.closed
  sent += size
  if (sent === Math.ceil(count / 10 / batch) * batch) base = heap()
  if (sent % (batch * 20) === 0) print(`${sent} frames, heap ${mebi(heap())} MiB`)
}
const growth = heap() - base
if (globalThis.gc !== undefined && growth > maxGrowth) faults.push(`memory grew by ${mebi(growth)} MiB`)
const seconds = (performance.now() - started) / 1_000
print(`${sent} frames in ${seconds.toFixed(1)} s, memory grew by ${mebi(growth)} MiB after the first tenth`)
for (const fault of faults) print(fault)
await agent.stop()
for (const undo of undos.toReversed()) await undo()
process.exitCode = faults.length === 0 ? 0 : 1
