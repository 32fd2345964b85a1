import type { BrakingOptions } from '../../src/actors/define/brakingOptions.ts'
import { decide } from '../../packages/policies/src/decide.ts'
import { policy } from '../../src/actors/define/policy.ts'
import { when } from '../../packages/policies/src/when.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { idsIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const policies = [policy({ name: 'tidy', when: when.onRequest(), decide: decide.oldest() })]

describe('the ids of steps', (it) => {
  for (const [title, braking, shown] of [
    ['a tool to revert', { revert: true }, true],
    ['a tool to prune', { prune: true }, true],
    ['a tool to graft', { graft: true }, true],
    ['a tool to recall', { recall: true }, true],
    ['folding, whose notes name the steps that it hides', { fold: true }, false],
    ['folding and recall for more than that', { fold: true, recall: true }, true],
    ['policies, which give it recall', { policies }, true],
    ['policies without recall', { policies, recall: false }, false],
    ['nothing but a look for stalls', { stall: true }, false],
    ['no brakes', undefined, false],
  ] as [string, BrakingOptions | undefined, boolean][]) {
    it(`are ${shown ? '' : 'not '}shown to a model with ${title}`, async (context) => {
      const { agent, script } = await startAgent(context, {
        replies: [calls('a', 'look'), 'done'],
        tools: [tool('look', () => 'seen', { effects: 'none' })],
        ...(braking === undefined ? {} : { braking }),
      })
      await agent.prompt('go').result
      assert.equal(idsIn(script.requests[1]!.messages), shown ? ['n1', 'n3'] : [])
    })
  }
})
