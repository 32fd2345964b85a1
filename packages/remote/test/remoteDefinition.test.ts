import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { deferred } from '../../../src/actors/parts/deferred/deferred.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { each } from '../../groups/src/each.ts'
import { parallel } from '../../groups/src/parallel.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { z } from 'zod'
import { assert, describe } from '../../../test/support/suite.ts'
import { callerOf, elsewhere } from './fakeAgent.ts'

const entry = elsewhere(() => Promise.resolve({ text: '' }))
const model = policyModel(() => 'hello')
const refusal = (make: () => unknown): string => {
  try {
    make()
    return 'none'
  } catch (thrown) {
    return thrown instanceof RuntimeError ? `${thrown.code}: ${thrown.message}` : String(thrown)
  }
}

describe('the definition of an agent that calls one elsewhere', (it) => {
  it('offers it as a tool that takes a task', () => {
    const tool = callerOf(entry).tools.get('codex')!
    assert.equal(Object.keys(tool.inputSchema['properties'] as object), ['task'])
    assert.is(tool.description, 'Changes code.')
    assert.is(callerOf(entry).agents.size, 0)
  })

  it('refuses a name that another tool or agent has', () => {
    const codex = defineTool({ name: 'codex', description: 'x', input: z.object({}), run: () => 'x' })
    assert.match(
      refusal(() => callerOf(entry, { tools: [codex] })),
      /^INVALID_DEFINITION: .*two tools are named "codex"/,
    )
    const twice = defineAgent({ name: 'codex', model })
    assert.match(
      refusal(() => defineAgent({ name: 'caller', model, agents: [entry, twice] })),
      /an agent and a tool are both named "codex"/,
    )
  })

  it('refuses one that a function returns, as tools are known before', () => {
    const agents = (): never[] => [entry as never]
    assert.match(
      refusal(() => [...defineAgent({ name: 'caller', model, agents }).agents.keys()]),
      /a function cannot return a group or an agent elsewhere/,
    )
  })

  it('is refused by its name where only agents of this process can stand', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const caller = await runtime.spawn(callerOf(entry))
    const given = entry as never
    const attempts: readonly (() => unknown)[] = [
      () => deferred([given]),
      () => defineAgent({ name: 'caller', model, handoffs: [given] }),
      () => runtime.spawn(given),
      () => caller.spawn(given),
      () => caller.spawn({ definition: given, detach: true }),
      () => parallel(caller, [given], 'go'),
      () => parallel(caller, [{ definition: given }], 'go'),
      () => each(runtime, given, ['go']),
    ]
    for (const attempt of attempts) {
      const refused = await (async () => await attempt())().then(
        () => 'none',
        (thrown: unknown) => String(thrown),
      )
      assert.match(refused, '"codex" is an agent elsewhere: it is called by an agent that has it in "agents"')
    }
  })

  it('counts no call of it as a sub-agent: several work at once, however few of those may be alive', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const both = Promise.withResolvers<void>()
    let working = 0
    const waiting = elsewhere(async () => {
      working += 1
      if (working === 2) both.resolve()
      await both.promise
      return { text: 'done' }
    })
    const calls = [1, 2].map((task) => ({ name: 'codex', input: { task: `Task ${task}` } }))
    const twice = policyModel(({ messages }) => (messages.length === 1 ? { toolCalls: calls } : 'both'))
    const definition = defineAgent({ name: 'caller', model: twice, agents: [waiting], maxChildren: 1 })
    const { text } = await (await runtime.spawn(definition)).prompt('go').result
    assert.equal([text, working], ['both', 2])
  })

  it('takes rules about what it asks for, and no others', () => {
    callerOf(entry, { permissions: { allow: ['codex_edit(src/**)'] } })
    assert.match(
      refusal(() => callerOf(entry, { permissions: { allow: ['codex_edti'] } })),
      /there is no tool "codex_edti"; did you mean "codex_edit"\?/,
    )
  })
})
