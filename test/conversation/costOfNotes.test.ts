import { RequestAssembler } from '../../src/conversation/assembleRequest.ts'
import { estimateTokens } from '../../src/conversation/tokenCounter.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { BrakeLog, notesIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

/** A conversation of so many steps, each with a name of its own. */
function worked(steps: number): BrakeLog {
  const log = new BrakeLog()
  log.user('the task')
  for (let i = 0; i < steps; i++) log.step([{ output: `name${i}Thing ${'x '.repeat(200)}` }])
  return log
}

describe('what notes cost', (it) => {
  it('the index is made once for a request, however many steps are hidden', () => {
    const log = worked(60)
    const { conversation } = log
    const assembler = new RequestAssembler(conversation, log.frame)
    log.fold({ indexTokens: 200 }, true)
    const { hidden } = conversation.annotations!
    let times = 0
    const index = hidden.index.bind(hidden)
    hidden.index = (subject) => {
      times += 1
      return index(subject)
    }
    const { messages } = assembler.assemble(log.turnIndex).request
    assert.is(notesIn(messages).length, 2)
    assert.is(times, 1)
    log.revert(conversation.steps()[20]!.endId)
    times = 0
    assert.equal(
      assembler.assemble(log.turnIndex).request.messages,
      log.assemble().request.messages,
      'a revert changes the index',
    )
    assert.ok(times <= 2)
  })

  for (const decay of ['lazy', 'exact'] as const) {
    it(`old lessons count as long as they are shown, with ${decay} decay`, async (context) => {
      const because = (round: number) => `attempt ${round}: ${'because '.repeat(60)}`
      const rounds = Array.from({ length: 12 }, (_, round) => [
        calls(`a${round}-`, 'look'),
        calls(`b${round}-`, 'look'),
        calls(`c${round}-`, [
          'revert_to_state',
          { category: 'failure', step: `n${3 + 6 * round}`, summary: because(round) },
        ]),
      ])
      const { agent, script, ofType } = await startAgent(context, {
        braking: { revert: { decay, lessonWindowTurns: 1 } },
        tools: [tool('look', () => 'seen', { effects: 'none' })],
        replies: [...rounds.flat(), 'done'],
      })
      await agent.prompt('go').result
      const { messages } = script.requests.at(-1)!
      const lessons = notesIn(messages).filter((note) => note.startsWith('<brake-note kind="lesson"'))
      assert.is(lessons.length, decay === 'lazy' ? 12 : 3)
      const shown = messages.flatMap(({ role, content }) =>
        content.map((block) => estimateTokens.message({ role, content: [block] } as never)),
      )
      const counted = ofType('reply.end').at(-1)!.estimatedTokens - ofType('reply.end')[0]!.estimatedTokens
      const all = shown.reduce((sum, tokens) => sum + tokens, 0)
      assert.ok(Math.abs(counted - all) <= 6 * shown.length, `${counted} for ${all}`)
    })
  }
})
