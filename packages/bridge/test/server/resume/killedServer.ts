import { connect } from '../../../src/client/connect.ts'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import type { CaseContext } from '../../../../../test/support/suite.ts'
import { Dice } from '../../../../../test/tree/dice.ts'
import { Heard } from '../bridgeHarness.ts'
import { checkHeard, checkOnce, checkResult, checkRunEvents, checkTexts, type Given } from './resumeChecks.ts'
import { startServerProcess } from './serverProcess.ts'

export interface KilledOutcome {
  /** Violations, in words. */
  readonly faults: readonly string[]
  readonly turns: number
  readonly records: number
  readonly kills: number
}

const agentId = 'a1'

/** A run over a real socket while the server's process is killed by SIGKILL at random moments, and started again. */
export async function killedServer(
  context: Pick<CaseContext, 'cleanup'>,
  { seed, turns = 200, kills = 5 }: { readonly seed: number; readonly turns?: number; readonly kills?: number },
): Promise<KilledOutcome> {
  const dice = new Dice(seed)
  const server = await startServerProcess(context)
  const client = connect(server.url, { retry: { baseMs: 2, maxMs: 30 } })
  context.cleanup(() => client.close())
  const errors: string[] = []
  client.onError(({ code, message }) => errors.push(`${code}: ${message}`))
  const agent = await client.spawn('looking', { id: agentId })
  const heard = new Heard()
  agent.subscribe(heard.listen, { fromSeq: 1 })

  const given: Given[] = []
  const give = (kind: Given['kind'], text: string, answer: Promise<unknown>): Promise<unknown> => {
    const entry: Given = { kind, text, outcome: undefined }
    given.push(entry)
    return answer.then(
      () => (entry.outcome = 'done'),
      () => (entry.outcome = 'refused'),
    )
  }
  const text = `prompt 0, ${turns} turns`
  const run = agent.prompt(text)
  const result = give('prompt', text, run.result)
  const said: Promise<unknown>[] = []
  for (let death = 1; death <= kills; death += 1) {
    const target = heard.events.length + dice.int(1, Math.floor((turns * 9) / kills))
    await Promise.race([heard.until(() => heard.events.length >= target), result])
    for (const kind of ['steer', 'followUp'] as const) {
      const words = `${kind} ${death}`
      if (dice.percent(50)) said.push(give(kind, words, agent[kind](words)))
    }
    await server.killAndStart()
  }
  await Promise.all([result, ...said])
  const last = agent.prompt('last, 1 turns')
  const told: AgentEvent[] = []
  const telling = (async () => {
    for await (const event of last) told.push(event)
  })()
  await give('prompt', 'last, 1 turns', last.result)
  await telling
  const records = await server.log(agentId)
  await heard.until(({ seq }) => seq >= records.length)
  return {
    faults: [
      ...errors,
      ...checkHeard(heard.events, records, agentId),
      ...checkTexts(heard.events),
      ...checkOnce(given, records),
      ...checkResult(run.requestId, await run.result, records),
      ...checkResult(last.requestId, await last.result, records),
      ...checkRunEvents(last.requestId, told),
    ],
    turns: records.filter(({ type }) => type === 'turn.start').length,
    records: records.length,
    kills: server.lives - 1,
  }
}
