import { z } from 'zod'
import { defineAgent, type AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import { tool, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const model = scriptedModel([])
const good: AgentOptions = { name: 'tester', model }

describe('the definition of an agent', (it) => {
  it('says what may be meant by an option that is not known', () => {
    assert.throws(
      () => defineAgent({ ...good, skils: ['./skills'] } as never),
      withCode('INVALID_DEFINITION', 'Agent "tester": "skils" is not known; did you mean "skills"?'),
    )
  })

  const bad: readonly (readonly [string, unknown])[] = [
    ['name', { name: undefined }],
    ['name', { name: '' }],
    ['name', { name: 'a b' }],
    ['name', { name: 'x'.repeat(65) }],
    ['name', { name: 7 }],
    ['model', { model: undefined }],
    ['model', { model: 'gpt' }],
    ['model', { model: {} }],
    ['model', { model: { id: 'x' } }],
    ['model', { model: { id: 7, stream: () => {} } }],
    ['instructions', { instructions: 7 }],
    ['tools', { tools: {} }],
    ['tools', { tools: [{}] }],
    ['tools', { tools: [undefined] }],
    ['tools', { tools: [tool('x', () => 1), 'x'] }],
    ['twice', { tools: [tool('twice', () => 1), tool('twice', () => 1)] }],
    ['settings', { settings: 'hot' }],
    ['output', { output: { type: 'object' } }],
    ['output', { output: z.object({ when: z.date() }) }],
    ['limits.turns', { limits: { turns: 0 } }],
    ['limits.turns', { limits: { turns: 1.5 } }],
    ['limits.tokens', { limits: { tokens: -1 } }],
    ['limits.costUsd', { limits: { costUsd: 0 } }],
    ['limits.ms', { limits: { ms: Infinity } }],
    ['trns', { limits: { trns: 1 } }],
    ['pricing.output', { pricing: { input: 1 } }],
    ['pricing.input', { pricing: { input: -1, output: 1 } }],
    ['pricing.input', { pricing: { input: Number.NaN, output: 1 } }],
    ['retry.attempts', { retry: { attempts: 0 } }],
    ['retry.baseMs', { retry: { baseMs: -1 } }],
    ['retry.maxMs', { retry: { maxMs: 'long' } }],
    ['tries', { retry: { tries: 1 } }],
    ['toolExecution', { toolExecution: 'random' }],
    ['toolExecution', { toolExecution: { batch: 0 } }],
    ['queueMode', { queueMode: 'none' }],
    ['maxQueue', { maxQueue: 0 }],
    ['maxQueue', { maxQueue: 1.5 }],
    ['compaction', { compaction: true }],
    ['compaction', { compaction: { contextWindow: 0 } }],
    ['compaction', { compaction: { compactAt: 2 } }],
    ['compaction', { compaction: { strategy: 'llm' } }],
    ['compaction', { compaction: { keepRecent: 0 } }],
    ['compaction', { compaction: { focus: 'x' } }],
    ['tokenCounter', { tokenCounter: {} }],
    ['tokenCounter', { tokenCounter: { message: () => 1 } }],
    ['checkRequests', { checkRequests: 'yes' }],
    ['toolz', { toolz: [] }],
  ]
  for (const [index, [named, change]] of bad.entries()) {
    const given = JSON.stringify(change, (_, value) =>
      value === undefined || (typeof value === 'number' && !Number.isFinite(value))
        ? String(value)
        : (value as unknown),
    )
    it(`is refused, naming ${named}, when given (${index}) ${given.length > 90 ? `${given.slice(0, 90)}…` : given}`, () => {
      assert.throws(() => defineAgent({ ...good, ...(change as object) }), withCode('INVALID_DEFINITION', named))
    })
  }

  for (const nothing of [undefined, null, 'agent', 7]) {
    it(`is refused when it is ${String(nothing)}`, () => {
      const thrown = assert.throws(() => defineAgent(nothing as never))
      assert.instance(thrown, RuntimeError)
      assert.is((thrown as RuntimeError).code, 'INVALID_DEFINITION')
    })
  }

  it('names the agent in every complaint', () => {
    assert.throws(() => defineAgent({ ...good, maxQueue: 0 }), withCode('INVALID_DEFINITION', '"tester"'))
  })

  it('has the documented defaults', () => {
    const { policy, maxQueue, compaction, output, pricing, tools, instructions, checkRequests } = defineAgent(good)
    assert.equal(policy.flags, {
      revert: false,
      prune: false,
      fold: false,
      stall: false,
      policies: false,
      compact: true,
    })
    assert.equal([policy.toolExecution, policy.queueMode, policy.limits], ['parallel', 'one-at-a-time', {}])
    assert.equal(policy.retry, {
      attempts: 4,
      baseMs: 1_000,
      maxMs: 60_000,
      maxRetryAfterMs: 600_000,
      silenceMs: 300_000,
    })
    assert.equal([compaction?.policy.contextWindow, compaction?.strategy.name], [200_000, 'heuristic'])
    assert.equal([maxQueue, output, pricing, tools.size, instructions, checkRequests], [100, null, null, 0, '', false])
    assert.is(policy.compaction.trigger, 170_000)
  })

  it('is frozen and not touched by what becomes of the options', () => {
    const options = { ...good, limits: { turns: 1 }, tools: [tool('look', () => 1)] }
    const definition = defineAgent(options)
    options.limits.turns = 99
    options.tools.push(tool('find', () => 1))
    assert.throws(() => Object.assign(definition, { name: 'x' }))
    assert.equal([definition.tools.size, definition.toolSpecs.length], [1, 1])
    assert.is(definition.policy.limits.turns, 1)
  })

  it('turns compaction off when told so', () => {
    const { policy, compaction } = defineAgent({ ...good, compaction: false })
    assert.equal([policy.flags.compact, compaction], [false, null])
  })

  it('takes options that are undefined for options left out', () => {
    assert.is(defineAgent({ ...good, limits: undefined, tools: undefined, retry: undefined } as never).maxQueue, 100)
    assert.equal(defineAgent({ ...good, retry: { attempts: undefined } } as never).policy.retry.attempts, 4)
    assert.is(
      defineAgent({ ...good, compaction: { contextWindow: undefined } } as never).compaction?.policy.contextWindow,
      200_000,
    )
  })
})
