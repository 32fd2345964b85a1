import { createHash, createHmac } from 'node:crypto'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { sessionIdFor, tokenProtocol } from '../../src/client/sessionId.ts'
import { hmacSha256, sha256 } from '../../src/client/sha256.ts'
import { isSessionOf, sessionIdOf } from '../../src/server/sessionId.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, serveAgents } from './bridgeHarness.ts'
import { heldCalls } from '../../../../test/support/heldCalls.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })

const one = 'one-token-0123456789'
const two = 'two-token-0123456789'
const tokens = { [one]: 'drive', [two]: { role: 'drive', agents: ['b'] } } as const

describe('the hash that clients make', (it) => {
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 7 + length) % 256)

  it('is SHA-256, and keyed that of HMAC', () => {
    for (const length of [0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 1_000]) {
      const message = bytes(length)
      assert.equal([...sha256(message)], [...createHash('sha256').update(message).digest()])
      for (const keyLength of [16, 64, 65, 200]) {
        const key = bytes(keyLength)
        assert.equal([...hmacSha256(key, message)], [...createHmac('sha256', key).update(message).digest()])
      }
    }
  })

  it('is the one the server looks for', () => {
    for (const token of [one, 'ein Schlüssel mit Umlauten €', 'x'.repeat(100)]) {
      const made = sessionIdFor(token, 'my-session')
      assert.is(made, sessionIdOf('my-session', token))
      assert.ok(isSessionOf(made, token))
      assert.ok(isSessionOf(sessionIdFor(token), token))
    }
  })
})

describe('a session id', (it) => {
  it('is of one token, and of nobody who reads, cuts or changes it', () => {
    const made = sessionIdFor(one, 'a.name')
    const [mac = ''] = made.split('.').slice(-1)
    const others = [
      'a.name',
      `b.name.${mac}`,
      `.${mac}`,
      mac,
      `${made}0`,
      made.slice(0, -1),
      `a.name.${mac.toUpperCase()}`,
      '',
      '.',
    ]
    assert.not.ok(isSessionOf(made, two))
    for (const other of others) assert.is(isSessionOf(other, one), other === made, other)
  })

  it('of another token, or made up, is refused with a code, also by the next server', async (context) => {
    const store = { ...memoryStore(), close: async () => {} }
    const sessionId = sessionIdFor(one, 's1')
    for (let life = 0; life < 2; life += 1) {
      const serving = await serveAgents(context, [echo], { tokens, runtime: { store } })
      for (const hello of [
        { token: two, sessionId },
        { token: one, sessionId: 's1' },
        { token: one, sessionId: sessionIdFor(two, 's1') },
      ]) {
        const thief = await serving.dial({ hello })
        assert.is((await thief.closed).code, 4001)
        assert.equal(
          thief.frames.map((frame) => frame.type === 'error' && frame.code),
          ['BRIDGE_SESSION'],
        )
      }
      const owner = await serving.dial({ hello: { token: one, sessionId } })
      const welcome = await owner.until(({ type }) => type === 'welcome')
      assert.is(welcome.type === 'welcome' && welcome.sessionId, sessionId)
      await serving.runtime.close()
    }
  })

  it('that a server gives may be come back with, by the same token alone', async (context) => {
    const serving = await serveAgents(context, [echo], { tokens })
    const first = await serving.dial({ hello: { token: one } })
    const welcome = await first.until(({ type }) => type === 'welcome')
    const { sessionId } = welcome as { sessionId: string }
    assert.ok(isSessionOf(sessionId, one))
    const again = await serving.dial({ hello: { token: one, sessionId } })
    await again.until(({ type }) => type === 'welcome')
    const thief = await serving.dial({ hello: { token: two, sessionId } })
    assert.is((await thief.closed).code, 4001)
  })

  it('stays with its owner however many other sessions there were', { timeoutMs: 20_000 }, async (context) => {
    const wipe = tool('wipe', () => 'wiped', { needsApproval: true })
    const careful = defineAgent({
      name: 'careful',
      tools: [wipe],
      model: policyModel(({ messages }) =>
        messages.at(-1)?.role === 'toolResult' ? 'done' : { toolCalls: [{ name: 'wipe', input: {} }] },
      ),
    })
    const serving = await serveAgents(context, [careful], { tokens })
    const agent = await serving.runtime.spawn(careful, { id: 'a' })
    await serving.runtime.spawn(careful, { id: 'b' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    const run = agent.prompt('go')
    await heard.until(({ type }) => type === 'approval.requested')
    const sessionId = sessionIdFor(one, 'owner')
    const owner = await serving.dial({ hello: { token: one, sessionId } })
    await owner.until(({ type }) => type === 'welcome')
    // It may use its own sessions up, and those of others not at all.
    const attacker = await serving.dial({ hello: { token: two, sessionId: sessionIdFor(two, 'owner') } })
    for (let n = 1; n < 20; n += 1) await attacker.ask({ type: 'agent.abort', agentId: 'b' })
    const denied = await owner.ask({
      type: 'agent.decide',
      agentId: 'a',
      callId: heldCalls(agent)[0],
      decision: 'deny',
    })
    assert.is(denied.type, 'ok')
    await heard.until(({ type }) => type === 'approval.decided')
    assert.is((await run.result).text, 'done')
  })

  it('is anybody’s where there are no tokens', async (context) => {
    const serving = await serveAgents(context, [echo])
    for (const hello of [
      { sessionId: 's1' },
      { sessionId: 's1', token: one },
      { sessionId: sessionIdFor(two, 's1') },
    ]) {
      const bare = await serving.dial({ hello })
      const welcome = await bare.until(({ type }) => type === 'welcome')
      assert.is(welcome.type === 'welcome' && welcome.sessionId, hello.sessionId)
    }
  })
})

describe('a token as a subprotocol', (it) => {
  it('has the characters that a subprotocol may have', () => {
    for (const token of ['~~~???>>>ÿÿÿ', 'ein Schlüssel, mit "€"', 'x'.repeat(17)])
      assert.match(tokenProtocol(token), /^escapement\.token\.[\w-]+$/)
  })
})
