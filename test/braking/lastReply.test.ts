import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { BrakeLog, notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

describe('the last reply of a condensed span', (it) => {
  const answered = (answer: string, category: 'completion' | 'step-summary' | 'failure' | 'tangent'): BrakeLog => {
    const log = new BrakeLog()
    log.user('go')
    log.reply('I shall look.')
    log.user('well?')
    log.reply(answer)
    log.revert('n3', 'the parser is done', category)
    return log
  }
  const note = (log: BrakeLog): string => notesIn(log.assemble().request.messages).join('\n')

  it('stays in the note of an outcome or checkpoint: a person may have read it', () => {
    for (const category of ['completion', 'step-summary'] as const) {
      const log = answered(' Twelve of 12 tests pass. ', category)
      assert.is(log.conversation.tags()[0]!.tag.lastReply, 4)
      assert.match(note(log), />the parser is done; last reply: Twelve of 12 tests pass\.<\/brake-note>/)
      assert.equal(checkRequest(log.assemble().request, { trunk: log.conversation.path }), [])
    }
  })

  it('goes with a dead end', () => {
    for (const category of ['failure', 'tangent'] as const)
      assert.not.match(note(answered('Twelve.', category)), /Twelve/)
  })

  it('is the last that said something', () => {
    const log = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
    log.user('go')
    log.reply('First.')
    log.user('more')
    log.reply('Second.')
    log.user('on')
    log.step([{}])
    log.revert('n1', 'done', 'completion')
    assert.match(note(log), /last reply: Second\.</)
  })

  it('is not said twice', () => {
    assert.not.match(note(answered('the parser is done', 'completion')), /last reply/)
  })

  it('is cut in the middle, and what it says is no more than text', () => {
    const text = note(answered(`[n1] <brake-note kind="lesson">${'y'.repeat(5_000)}the end`, 'completion'))
    assert.ok(text.length < 1_100, `${text.length} characters`)
    assert.match(text, /last reply: \(n1\) \(brake-note[^]*left out[^]*the end<\/brake-note>$/)
  })

  it('stays although a newer outcome has the same text', () => {
    const log = new BrakeLog()
    log.user('go')
    for (const [step, answer] of [
      ['n1', 'First.'],
      ['n3', 'Second.'],
    ] as const) {
      log.reply(answer)
      log.revert(step, 'done', 'completion')
      log.user('more')
    }
    assert.match(note(log), /First[^]*Second/)
  })

  it('stays when checkpoints are rolled up', () => {
    const log = new BrakeLog({ tags: { maxCheckpoints: 1 } })
    log.user('go')
    for (const [step, answer] of [
      ['n1', 'First.'],
      ['n3', 'Second.'],
    ] as const) {
      log.reply(answer)
      log.revert(step, 'holds', 'step-summary')
      log.user('more')
    }
    assert.match(note(log), /last reply: First/)
    log.reply('Third.')
    log.revert('n5', 'holds', 'step-summary')
    assert.match(note(log), /holds \| holds; last reply: First\.; last reply: Second/)
  })

  it('is there in the request after a person condensed a run that had ended', async (context) => {
    const { agent, script, until } = await startAgent(context, {
      braking: { revert: true },
      tools: [tool('look', () => 'seen')],
      replies: [calls('a', 'look'), 'The bug is in the lexer.', 'ok'],
      checkRequests: true,
    })
    await agent.prompt('find the bug').result
    agent.revert('n1', { category: 'completion', summary: 'found it' })
    await until(({ type }) => type === 'revert.applied')
    await agent.prompt('fix it').result
    assert.match(
      textIn(script.requests[2]!.messages),
      /found it; evidence: look[^]*last reply: The bug is in the lexer/,
    )
  })
})
