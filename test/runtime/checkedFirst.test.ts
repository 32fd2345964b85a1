import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { scripted } from '../../packages/code/test/scriptedAgent.ts'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { memoryWorkspace } from '../../packages/tools/src/workspace/memoryWorkspace.ts'
import { workspaceTools } from '../../packages/tools/src/workspace/workspaceTools.ts'
import type { ToolOptions } from '../../src/actors/tools/defineTool.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { calls, never, startAgent, tool, type HarnessOptions } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

type Check = NonNullable<ToolOptions<never>['check']>

const inVain = async (): Promise<void> => {
  await Promise.resolve()
  throw new Error('There is no such order.')
}

/** An agent that calls a tool which asks and has a `check`; and what its tool was run with. */
async function begin(context: CaseContext, check: Check, more: HarnessOptions = {}, needsApproval = true) {
  const ran: unknown[] = []
  const pay = tool('pay', (input) => (ran.push(input), 'paid'), { needsApproval, check })
  const harness = await startAgent(context, { replies: [calls('c', 'pay'), 'ok'], tools: [pay], ...more })
  const run = harness.agent.prompt('go')
  return { ...harness, run, ran }
}

/** Results of an agent's calls, as its model reads them. */
const results = async ({ records }: Pick<Awaited<ReturnType<typeof startAgent>>, 'records'>) =>
  (await records()).flatMap((record) => (record.type === 'tool.end' ? [record.message] : []))

/** Ways to be asked about: by the tool alone, after a hook, by a rule. */
const ways: readonly (readonly [string, HarnessOptions])[] = [
  ['by its tool', {}],
  ['after beforeTool', { beforeTool: () => undefined }],
  ['by a rule', { permissions: { ask: ['pay'] } }],
  ['with arguments that beforeTool gave', { beforeTool: () => ({ input: {} }) }],
]

describe('the check of a tool', (it) => {
  for (const [way, options] of ways) {
    it(`spares people a call in vain that they would be asked about ${way}`, async (context) => {
      const harness = await begin(context, inVain, options)
      assert.is((await harness.run.result).stopReason, 'stop')
      const [result] = await results(harness)
      assert.equal([textOf(result!.content), result!.isError], ['There is no such order.', true])
      assert.equal([harness.ran, harness.ofType('approval.requested')], [[], []])
    })

    it(`has people asked about one that may succeed, ${way}`, async (context) => {
      const harness = await begin(context, () => {}, options)
      await harness.until(({ type }) => type === 'approval.requested')
      harness.agent.decide('c0', 'approve')
      assert.is((await harness.run.result).stopReason, 'stop')
      assert.is(harness.ran.length, 1)
    })
  }

  it('is not called where nobody is asked', async (context) => {
    let checks = 0
    const harness = await begin(context, () => void checks++, {}, false)
    assert.is((await harness.run.result).stopReason, 'stop')
    assert.equal([checks, harness.ran.length], [0, 1])
  })

  it('has people asked when it gives no answer in time', async (context) => {
    const harness = await begin(context, () => never)
    await harness.clock.advance(60_000)
    await harness.until(({ type }) => type === 'approval.requested')
    harness.agent.decide('c0', 'deny')
    await harness.run.result
    assert.equal(harness.ran, [])
  })

  it('ends with the run that is aborted meanwhile', async (context) => {
    const begun = Promise.withResolvers<AbortSignal>()
    const harness = await begin(context, (_, { signal }) => {
      begun.resolve(signal)
      return never
    })
    const signal = await begun.promise
    harness.agent.abort()
    assert.is((await harness.run.result).stopReason, 'aborted')
    assert.is(signal.aborted, true)
  })

  it('says nothing secret', async (context) => {
    const check = (): never => {
      throw new Error('No order for hunter2-hunter2.')
    }
    const harness = await begin(context, check, { redact: { secrets: { KEY: 'hunter2-hunter2' } } })
    await harness.run.result
    assert.not.match(JSON.stringify(await harness.records()), 'hunter2')
  })

  it('says no more than a result may', async (context) => {
    const check = (): never => {
      throw new Error('x'.repeat(100_000))
    }
    const harness = await begin(context, check)
    await harness.run.result
    const [result] = await results(harness)
    assert.ok(textOf(result!.content).length <= 30_000)
  })

  it('must be a function', () => {
    assert.throws(() => tool('pay', () => '', { check: true as never }), /check: give a function/)
  })
})

describe('an edit of a workspace that cannot be made', (it) => {
  const files = { 'a.ts': 'const a = 1\n' }
  const wrong: readonly (readonly [string, object, RegExp])[] = [
    ['edit_file', { path: 'a.ts', oldText: 'const b', newText: 'const c' }, /a\.ts: oldText was not found/],
    ['edit_file', { path: 'b.ts', oldText: 'x', newText: 'y' }, /similar names there: "a\.ts"/],
    ['write_file', { path: '.', content: '' }, /is the workspace itself/],
    ['delete_file', { path: 'b.ts' }, /similar names there: "a\.ts"/],
  ]
  for (const [name, input, says] of wrong)
    it(`is not asked about: ${name} ${JSON.stringify(input)}`, async (context) => {
      const store = memoryStore()
      const runtime = await createRuntime({ store })
      context.cleanup(() => runtime.close())
      const tools = workspaceTools(memoryWorkspace(files), { needsApproval: { [name]: true }, snapshots: true })
      const model = scriptedModel([calls('c', [name, input]), 'ok'])
      const agent = await runtime.spawn(defineAgent({ name: 'a', model, tools }))
      assert.is((await agent.prompt('go').result).stopReason, 'stop')
      const [, , result] = model.requests[1]!.messages
      assert.match(textOf(result!.content), says)
    })

  it('fails in a script, which reads why', async (context) => {
    const runtime = await createRuntime({ store: memoryStore() })
    context.cleanup(() => runtime.close())
    const tools = workspaceTools(memoryWorkspace(files), { needsApproval: { edit_file: true } })
    const code = `try { await tools.edit_file({ path: 'a.ts', oldText: 'b', newText: 'c' }) } catch (e) { return [e.code, e.message] }`
    const agent = await runtime.spawn(scripted(code, tools))
    assert.match((await agent.prompt('go').result).text, /a\.ts: oldText was not found/)
    assert.not.match((await agent.prompt('go').result).text, /DENIED/)
  })
})
