import * as fc from 'fast-check'
import { RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { brakedHistories, foldedHistories } from '../support/brakeArbitraries.ts'
import { happen } from '../support/brakedHappenings.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'
import { checkDrain, checkFold, isAnswered, noRollUp, options, viewOf } from './playHistory.ts'

describe('a random braked conversation', (it) => {
  it('is rebuilt the same from a log cut at any record', { timeoutMs: 20_000 }, () => {
    const histories = fc.oneof(brakedHistories({ maxLength: 16 }), foldedHistories({ maxLength: 8 }))
    fc.assert(
      fc.property(histories, fc.boolean(), (happenings, isRebase) => {
        const views: string[] = []
        const log: BrakeLog = new BrakeLog({
          policy: { onUserMessage: isRebase ? 'rebase' : 'refuse' },
          after: () => views.push(JSON.stringify(viewOf(log.conversation))),
        })
        log.user('the task')
        for (const happening of happenings) {
          const isReply = happening.type === 'reply' || happening.type === 'step'
          if (isReply && isAnswered(log.conversation)) continue
          if (happening.type === 'fold') checkFold(log, happening)
          else happen(log, happening, checkDrain)
        }
        views.forEach((view, at) => {
          const cut = rebuildConversation(log.records.slice(0, at + 1))
          assert.is(JSON.stringify(viewOf(cut)), view, `cut after record ${at + 1}`)
        })
      }),
      { ...options, numRuns: someRuns(300) },
    )
  })

  it('shows the same whether a request was made at every step or only now', { timeoutMs: 20_000 }, () => {
    fc.assert(
      fc.property(
        brakedHistories({ maxLength: 24 }),
        fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }),
        (happenings, asks) => {
          const log = new BrakeLog({
            policy: { onUserMessage: 'rebase' },
            tags: {
              ...noRollUp,
              decay: 'exact',
              lessonWindowTurns: Number(asks[0]),
              lessonWindowCount: Number(asks[1]),
            },
          })
          const assembler = new RequestAssembler(log.conversation, log.frame)
          log.user('the task')
          happenings.forEach((happening, at) => {
            const isReply = happening.type === 'reply' || happening.type === 'step'
            if (isReply && isAnswered(log.conversation)) return
            if (happening.type === 'fold') checkFold(log, happening)
            else happen(log, happening, checkDrain)
            if (asks[at] === false) return
            const live = assembler.assemble(log.turnIndex).request.messages
            assert.is(JSON.stringify(live), JSON.stringify(log.assemble().request.messages))
          })
        },
      ),
      { ...options, numRuns: someRuns(1_000) },
    )
  })
})
