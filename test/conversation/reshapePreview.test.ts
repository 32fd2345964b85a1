import { previewPrune, previewRevert } from '../../packages/page/src/inspector/model/conversation/reshapePreview.ts'
import { estimateTokens } from '../../src/conversation/limits/tokenCounter.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const long = 'nothing '.repeat(200)

/** A task, a long step n2–n3, a short one n4–n5, and a reply n6. */
function worked(): BrakeLog {
  const log = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
  log.user('the task')
  log.step([{ output: long }])
  log.step([{ output: 'ok' }])
  log.reply('done')
  return log
}

const whyNot = (preview: object | string): string => (typeof preview === 'string' ? preview : 'it would be done')

const failure = (step: string) => ({ step, category: 'failure' }) as const

describe('what a revert would do', (it) => {
  it('is what it then does, but for its text', () => {
    const log = worked()
    const preview = previewRevert(log.conversation, failure('n1'))
    assert.ok(typeof preview !== 'string')
    assert.equal(
      preview.nodes.map(({ id }) => id),
      [2, 3, 4, 5, 6],
    )
    assert.is(preview.users, 0)
    const before = log.conversation.trunkTokens
    assert.is(preview.tokens, before)
    const text = 'It did not help at all.'
    log.revert('n1', text)
    assert.ok(Math.abs(before - log.conversation.trunkTokens - (preview.freed - estimateTokens.text(text))) <= 1)
    assert.ok(preview.freed > 300)
  })

  it('is nothing for the context when its note takes more than what goes', () => {
    const preview = previewRevert(worked().conversation, failure('n5'))
    assert.ok(typeof preview !== 'string' && preview.nodes.length === 1 && preview.freed <= 0)
  })

  it('counts what people said in between, and says it again', () => {
    const log = worked()
    log.user(long)
    const preview = previewRevert(log.conversation, failure('n3'))
    assert.ok(typeof preview !== 'string')
    assert.is(preview.users, 1)
    assert.ok(preview.freed < estimateTokens.text(long) / 2)
  })

  it('is why not, where no agent would', () => {
    const log = worked()
    const why = (step: string): string => whyNot(previewRevert(log.conversation, failure(step)))
    assert.match(why('n6'), /nothing to abandon after n6/)
    assert.match(why('n99'), /not found/)
    log.pin('n4')
    assert.match(why('n1'), /n5 is pinned/)
  })
})

describe('what hiding a step would do', (it) => {
  it('is what it then does', () => {
    for (const isMask of [false, true]) {
      const log = worked()
      const preview = previewPrune(log.conversation, { step: 'n3', ...(isMask ? { mask: true } : {}) })
      assert.ok(typeof preview !== 'string')
      assert.equal(
        preview.nodes.map(({ id }) => id),
        [2, 3],
      )
      const before = log.conversation.trunkTokens
      log.prune({ steps: ['n3'], ...(isMask ? { mask: true } : {}) })
      assert.is(preview.freed, Math.round(before - log.conversation.trunkTokens))
      assert.ok(preview.freed > 300)
    }
  })

  it('is why not, where no agent would', () => {
    const { conversation } = worked()
    assert.match(whyNot(previewPrune(conversation, { step: 'n1' })), /is a user message/)
    assert.match(whyNot(previewPrune(conversation, { step: 'n6' })), /is the newest step/)
    assert.match(whyNot(previewPrune(conversation, { step: 'n5', mask: true })), /no output that is longer/)
  })
})
