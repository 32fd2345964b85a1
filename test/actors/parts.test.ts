import { z } from 'zod'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { remembering } from '../../src/actors/parts/memory/remembering.ts'
import { equip, parts, partSchemas } from '../../src/actors/parts/parts.ts'
import { knownRemembering } from '../../packages/tools/src/remembering/remembering.ts'
import type { Memory } from '../../src/protocol/ports/memory.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { tool, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

Object.assign(remembering, knownRemembering)

const never = () => Promise.reject(new Error('Not asked.'))
const store: Memory = { put: never, search: never, list: never, delete: never }
/** Options that give the model every tool that a part has. */
const everything = {
  memory: { store },
  artifacts: true,
  permissions: {},
  braking: { revert: true, graft: true, prune: true, recall: true, pin: true, show: true },
  state: { schema: z.object({}), initial: {}, model: 'write' },
} as const
const slow = tool('slow', () => '', { background: true })

describe('the parts of agents', (it) => {
  it('have no option that another part has', () => {
    const names = parts.flatMap(({ options }) => Object.keys(options))
    assert.equal(names.toSorted(), [...new Set(names)].toSorted())
    assert.equal(names.toSorted(), Object.keys(partSchemas).toSorted())
  })

  it('have no field of a definition that another part has', () => {
    const fields = parts.flatMap((part) => Object.keys(part.settings({}, 'Agent')))
    assert.equal(fields.toSorted(), [...new Set(fields)].toSorted())
  })

  it('name every tool that they bring, each for itself', () => {
    const named = parts.flatMap(({ toolNames = [] }) => toolNames)
    assert.equal(named.toSorted(), [...new Set(named)].toSorted())
    const brought = equip({ ...everything, tools: [slow] }, 'Agent').tools.flatMap((each) =>
      'name' in each ? [each.name] : [],
    )
    assert.equal(brought.toSorted(), named.toSorted())
  })

  it('refuse a tool of the definition that has the name of one of theirs', () => {
    for (const name of parts.flatMap(({ toolNames = [] }) => toolNames))
      assert.throws(
        () =>
          defineAgent({ name: 'tester', model: scriptedModel([]), tools: [slow, tool(name, () => '')], ...everything }),
        withCode('INVALID_DEFINITION', `Agent "tester": two tools are named "${name}".`),
      )
  })
})
