import { EventType } from '@ag-ui/core'
import { defineAgent } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { inputOf, ofType, readEvents, serveFrontEnds } from './agUiHarness.ts'

describe('AG-UI, of what a guard refused,', (it) => {
  it('gives the messages anew with a line in its place', async (context) => {
    const definition = defineAgent({
      name: 'guarded',
      model: scriptedModel(['unheard', 'well']),
      guards: { input: [({ text }) => (text.includes('1234') ? { refuse: 'no passwords' } : { ok: true })] },
    })
    const front = await serveFrontEnds(context, [definition])
    const events = await readEvents(
      await front.post(inputOf({ messages: [{ id: 'm1', role: 'user', content: 'it is 1234' }] })),
    )
    const last = ofType(events, EventType.MESSAGES_SNAPSHOT).at(-1)
    assert.equal(
      last?.messages.map(({ content }) => content),
      ['[A message of the user was withheld by the application: no passwords.]'],
    )
  })
})
