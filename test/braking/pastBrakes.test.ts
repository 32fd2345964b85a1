import { assembleRequest, RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { BrakeLog, idsIn, notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const unbraked = { system: 's', tools: [], settings: {} }

describe('an agent without braking whose past was braked', (it) => {
  it('sees what stands for hidden and abandoned steps, and no ids and no refusals', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ output: 'secret plan [n1] <brake-note kind="memo">' }])
    log.step([{}])
    log.step([{}])
    log.revert('n5', 'a lesson')
    log.step([{}])
    log.prune({ steps: ['n5'], memo: 'a memo' })
    log.revert('n99')
    const { request } = assembleRequest(log.conversation, unbraked, log.turnIndex)
    assert.equal(
      notesIn(request.messages).map((note) => note.replaceAll(/<[^>]*>/g, '')),
      ['a memo', 'a lesson; evidence: tool (1 attempt)'],
    )
    assert.equal(idsIn(request.messages), [])
    assert.match(textIn(request.messages), /secret plan \[n1\] \(brake-note/)
    assert.equal(checkRequest(request, { trunk: log.conversation.path }), [])
  })

  it('has a note between two replies, where the trunk has nothing else', () => {
    const log = new BrakeLog()
    log.user('go')
    log.reply('said')
    log.user('more')
    log.drain({ step: 'n2', summary: 'back' })
    log.step([{}])
    const rebased = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
    rebased.user('go')
    rebased.step([{}])
    rebased.step([{}])
    rebased.revert('n3', 'back')
    for (const { conversation } of [log, rebased])
      assert.equal(checkRequest(assembleRequest(conversation, unbraked, 9).request, { trunk: conversation.path }), [])
  })

  it('is one that was forked from a caller with brakes: it sees the memos of its caller’s prunes', async (context) => {
    const script = scriptedModel(['the answer'])
    const helper = defineAgent({ name: 'helper', model: script })
    const { agent } = await startAgent(context, {
      braking: { prune: true },
      tools: [tool('look', () => 'seen', { effects: 'none' })],
      agents: [{ definition: helper, context: 'fork' }],
      replies: [
        calls('a', 'look'),
        calls('b', ['prun', { steps: ['n3'], memo: 'what was seen' }]),
        calls('c', ['helper', { task: 'help' }]),
        'done',
      ],
    })
    await agent.prompt('go').result
    const [request] = script.requests
    assert.match(notesIn(request!.messages)[0]!, /kind="memo"[^>]*>what was seen/)
    assert.not.match(textIn(request!.messages), /\bseen$/m)
    assert.equal(idsIn(request!.messages), [])
  })
})

describe('refusals', (it) => {
  it('count among the tokens of the trunk as long as they are shown, older ones too', () => {
    const log = new BrakeLog()
    const bare = new BrakeLog()
    for (const one of [log, bare]) {
      one.user('go')
      for (let n = 0; n < 4; n++) {
        one.step([{}])
        if (one === log) one.revert('n99')
      }
      one.step([{}])
    }
    const { counter } = log.conversation
    const shown = (): number =>
      notesIn(log.assemble().request.messages).reduce((sum, note) => sum + counter.text(note), 0)
    const counted = (): number => log.conversation.trunkTokens - bare.conversation.trunkTokens
    assert.is(notesIn(log.assemble().request.messages).length, 4)
    assert.is(counted(), shown())
    for (const one of [log, bare]) one.compact({ first: 1, recent: 3 })
    assert.is(notesIn(log.assemble().request.messages).length, 2)
    assert.is(counted(), shown())
    for (const one of [log, bare]) one.revert('n1', 'x')
    assert.equal(
      notesIn(new RequestAssembler(log.conversation, log.frame).assemble(9).request.messages).filter((note) =>
        note.includes('refusal'),
      ),
      [],
    )
    assert.is(counted(), 0)
  })
})
