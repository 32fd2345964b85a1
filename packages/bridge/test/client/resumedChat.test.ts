import { ResumedChat } from '../../src/client/resumedChat.ts'
import { quiet } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const streamed = (text: string, status = 200): Response => new Response(text, { status })

/** A request that is answered when the case says so. */
function held() {
  const gate = Promise.withResolvers<Response>()
  let signal: AbortSignal | undefined
  return {
    send: (given?: AbortSignal): Promise<Response> => {
      signal = given
      return gate.promise
    },
    answer: gate.resolve,
    fail: gate.reject,
    get signal() {
      return signal
    },
  }
}

describe('a request that resumes a chat', (it) => {
  it('has its answer where nothing is decided meanwhile, and fails as it fails', async () => {
    const chat = new ResumedChat()
    assert.is(await (await chat.resume(async () => streamed('all'), null)).text(), 'all')
    await assert.rejects(
      chat.resume(() => Promise.reject(new Error('gone')), null),
      /gone/,
    )
    assert.is((await chat.resume(async () => new Response(null, { status: 204 }), null)).status, 204)
  })

  it('has nothing to resume once something was decided, and its own request is ended', async () => {
    for (const [status, expected] of [
      [200, 204],
      [409, 409],
    ] as const) {
      const chat = new ResumedChat()
      const [one, decision] = [held(), held()]
      const resumed = chat.resume(one.send, null)
      const decided = chat.decide(decision.send)
      assert.ok(one.signal?.aborted)
      decision.answer(streamed('decided', status))
      assert.is(await (await decided).text(), 'decided')
      assert.is((await resumed).status, expected)
      // What came too late is not read.
      one.answer(streamed('old'))
      await quiet()
    }
  })

  it('waits for the end of what was decided, and fails where its answer is not read to its end', async () => {
    const chat = new ResumedChat()
    const [one, decision] = [held(), held()]
    const resumed = chat.resume(one.send, null)
    const decided = chat.decide(decision.send)
    decision.answer(streamed('decided'))
    const answer = await decided
    await answer.body!.cancel()
    await assert.rejects(resumed)
  })

  it('fails as the decision that failed', async () => {
    const chat = new ResumedChat()
    const [one, decision] = [held(), held()]
    const resumed = chat.resume(one.send, null)
    const decided = chat.decide(decision.send)
    decision.fail(new Error('no connection'))
    await assert.rejects(decided, /no connection/)
    await assert.rejects(resumed, /no connection/)
    // The next one is a request by itself.
    assert.is(await (await chat.resume(async () => streamed('again'), null)).text(), 'again')
  })

  it('waits for the last of several decisions', async () => {
    const chat = new ResumedChat()
    const [one, first, second] = [held(), held(), held()]
    const resumed = chat.resume(one.send, null)
    const decided = [chat.decide(first.send), chat.decide(second.send)]
    first.answer(streamed('first'))
    await (await decided[0]!).text()
    let isOver = false
    void resumed.then(() => (isOver = true))
    await quiet()
    assert.not.ok(isOver)
    second.answer(streamed('second', 403))
    await (await decided[1]!).text()
    assert.is((await resumed).status, 403)
  })

  it('is left when its caller leaves, before or after it was sent, and is no longer waited for', async () => {
    for (const isBefore of [true, false]) {
      const chat = new ResumedChat()
      const leaving = new AbortController()
      const one = held()
      if (isBefore) leaving.abort(new Error('left'))
      const resumed = chat.resume(one.send, leaving.signal)
      if (!isBefore) leaving.abort(new Error('left'))
      await assert.rejects(resumed, /left/)
      assert.ok(one.signal?.aborted)
      // Nothing is resumed any more: a decision is a request by itself.
      const given = streamed('decided')
      assert.is(await chat.decide(async () => given), given)
      one.fail(new Error('aborted'))
      await quiet()
    }
  })
})
