import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../packages/models/src/policyModel.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { z } from 'zod'
import { assert, describe } from '../../support/suite.ts'
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

  it('takes rules about what it asks for, and no others', () => {
    callerOf(entry, { permissions: { allow: ['codex_edit(src/**)'] } })
    assert.match(
      refusal(() => callerOf(entry, { permissions: { allow: ['codex_edti'] } })),
      /there is no tool "codex_edti"; did you mean "codex_edit"\?/,
    )
  })
})
