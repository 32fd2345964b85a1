import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { paused, until } from '../../../../test/support/lives.ts'
import { untilDead } from '../../../../test/support/livingProcess.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { cliCommand, projectFolder, startChild } from '../../../cli/test/cliChild.ts'
import { sourceUrl } from '../../../cli/test/keeperModule.ts'
import { acpAgent, type AcpAgentOptions } from '../../src/client/acpAgent.ts'
import { call, callerOf } from './callerHarness.ts'

/** An agent that winds a clock, which may happen once; asked to wait, it does so for ever. */
const agents = `import { appendFileSync } from 'node:fs'
import { defineAgent, defineTool, policyModel } from '${sourceUrl('index.ts')}'
const wind = defineTool({ name: 'wind', description: 'Wind.', input: { jsonSchema: { type: 'object' } }, needsApproval: true, run: () => {
  appendFileSync('wound', 'x')
  return 'wound'
} })
console.log('this is no protocol')
export const keeper = defineAgent({
  name: 'keeper',
  tools: [wind],
  model: policyModel(({ messages }) => {
    const results = messages.filter(({ role }) => role === 'toolResult')
    if (results.length > 0) return 'It is ' + results.at(-1).content[0].text
    const last = messages.at(-1)
    if (last.content.some((block) => block.text === 'wait')) return new Promise(() => {})
    return { toolCalls: [{ name: 'wind', input: {} }] }
  }),
})
`

const keeperIn = (cwd: string, options: Partial<AcpAgentOptions> = {}): ReturnType<typeof acpAgent> => {
  const [command = '', ...args] = cliCommand(['acp', './agents.ts'])
  return acpAgent({ name: 'keeper', command, args, cwd, backoffMs: 1, ...options })
}

const wound = (folder: string): number =>
  existsSync(join(folder, 'wound')) ? readFileSync(join(folder, 'wound'), 'utf8').length : 0

async function life(context: CaseContext, folder: string, records: number): Promise<string> {
  const script = join(import.meta.dirname, 'callerChild.ts')
  const { stdout, stderr, code } = await startChild(context, cliCommand([folder, `${records}`], script), {
    cwd: folder,
  }).ended
  assert.ok(records > 0 || code === 0, stderr)
  return stdout.trim()
}

describe('an agent of escapement that another calls over ACP', (it) => {
  it('answers, and has its approval decided by the people of its caller', { timeoutMs: 60_000 }, async (context) => {
    const folder = projectFolder(context, { 'agents.ts': agents })
    const { agent, said, log } = await call(context, callerOf(keeperIn(folder), 'Wind the clock.'))
    await paused(agent)
    agent.decide(agent.pending()[0]!.key, 'approve')
    assert.is(await said(), 'It is wound')
    assert.is(wound(folder), 1)
    const end = (await log()).find(({ type }) => type === 'tool.end')
    assert.ok(end?.type === 'tool.end' && end.spent !== undefined && end.spent.turns >= 2 && end.spent.usage.output > 0)
  })

  it('does not do what people deny', { timeoutMs: 60_000 }, async (context) => {
    const folder = projectFolder(context, { 'agents.ts': agents })
    const { agent, said } = await call(context, callerOf(keeperIn(folder), 'Wind the clock.'))
    await paused(agent)
    agent.decide(agent.pending()[0]!.key, 'deny')
    assert.match(await said(), /[Dd]enied|Rejected/)
    assert.is(wound(folder), 0)
  })

  it('is cancelled with its caller, and its process ends', { timeoutMs: 60_000 }, async (context) => {
    const folder = projectFolder(context, { 'agents.ts': agents })
    const { agent, log } = await call(context, callerOf(keeperIn(folder), 'wait'))
    await until(agent, ({ type }) => type === 'child.noted')
    const noted = (await log()).find(({ type }) => type === 'child.noted')
    assert.ok(noted?.type === 'child.noted')
    const ended = until(agent, ({ type }) => type === 'run.end')
    agent.abort()
    await ended
    await untilDead((noted.handle as { process: { pid: number } }).process.pid, context.signal)
  })
})

describe('a caller over ACP that is killed, and again in its next life', (it) => {
  it('finds the session, and the clock is wound once', { timeoutMs: 400_000 }, async (context) => {
    for (let records = 3; records <= 13; records += 2) {
      const folder = projectFolder(context, { 'agents.ts': agents })
      await life(context, folder, records)
      await life(context, folder, 2 + (records % 4))
      assert.is(await life(context, folder, 0), 'It is wound', `after ${records} records`)
      assert.is(wound(folder), 1, `after ${records} records`)
    }
  })
})
