import type { IncomingMessage } from 'node:http'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Authenticator, type Authenticate, type Permit } from '../../src/server/authenticator.ts'
import { ForwardedTokens } from '../../src/server/forwarded.ts'
import type { Grant, Tokens } from '../../src/server/roles.ts'
import { ShareTokens } from '../../src/server/shareTokens.ts'

const secret = 's'.repeat(32)
const request = (cookie?: string): IncomingMessage =>
  ({ headers: cookie === undefined ? {} : { cookie } }) as unknown as IncomingMessage
const hour = 3_600_000

function guarded({ authenticate, tokens }: { authenticate?: Authenticate; tokens?: Tokens } = {}) {
  const [clock, failures] = [simulatedClock(), [] as string[]]
  const shares = new ShareTokens(clock, secret)
  const forwarded = new ForwardedTokens(secret, () => clock.now())
  const authenticator = new Authenticator({
    tokens,
    authenticate,
    role: 'admin',
    shares,
    forwarded,
    isHere: (place) => place.startsWith('here'),
    clock,
    failed: (message) => void failures.push(message),
  })
  return { clock, shares, forwarded, authenticator, failures }
}

const turns = async (): Promise<void> => {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('who a client is', (it) => {
  it('is asked again while it stays, once at a time, and each time anew', async () => {
    const answers: PromiseWithResolvers<Grant | null>[] = []
    const { authenticator, clock } = guarded({
      authenticate: () => {
        answers.push(Promise.withResolvers())
        return answers.at(-1)!.promise
      },
    })
    const asking = authenticator.permit(request(), 'x')
    answers[0]!.resolve({ role: 'talk' })
    const permit = (await asking)!
    // What is decided in time leaves no timer.
    assert.is(clock.pending, 0)
    for (let n = 1; n < 4; n += 1) {
      for (let look = 0; look < 3; look += 1) permit.askAgain!()
      assert.is(permit.isGranted(), true)
      assert.is(answers.length, n + 1)
      answers[n]!.resolve(n < 3 ? { role: 'talk' } : { role: 'admin' })
      await turns()
    }
    // It is somebody with other rights by now.
    assert.is(permit.isGranted(), false)
    assert.is(clock.pending, 0)
  })

  it('is not known where it takes too long to say, or cannot be said', async () => {
    const late = guarded({ authenticate: () => new Promise(() => {}) })
    const asking = Promise.resolve(late.authenticator.permit(request(), 'x'))
    const refused = assert.rejects(asking, withCode('BRIDGE_AUTHENTICATE'))
    await late.clock.advance(10_000)
    await refused
    assert.is(late.failures.length, 1)
    for (const given of [{}, { role: 'talk', may: [] }, { role: 'king' }, 5, { role: 'talk', other: 1 }]) {
      const wrong = guarded({ authenticate: () => given as never })
      await assert.rejects(Promise.resolve(wrong.authenticator.permit(request(), 'x')), withCode('BRIDGE_AUTHENTICATE'))
      assert.is(wrong.clock.pending, 0)
    }
    for (const nobody of [null, undefined])
      assert.is(await guarded({ authenticate: () => nobody }).authenticator.permit(request(), 'x'), undefined)
  })

  it('is named by its owner, or by its cookie where that tells one user from another', async () => {
    const permitOf = async (grant: Grant, cookie?: string): Promise<Permit> =>
      (await guarded({ authenticate: () => grant }).authenticator.permit(request(cookie), undefined))!
    const ann = { role: 'talk', metadata: { user: 'ann' } } as const
    for (const [grant, cookie, isUnnamed] of [
      [{ role: 'talk', owner: 'ann' }, undefined, false],
      [ann, 'session=1', false],
      [ann, undefined, true],
      [{ role: 'talk' }, 'session=1', true],
      [{ role: 'talk', metadata: {} }, 'session=1', true],
    ] as const)
      assert.is((await permitOf(grant, cookie)).isUnnamed, isUnnamed, JSON.stringify([grant, cookie]))
    const owners = await Promise.all([
      permitOf(ann, 'one'),
      permitOf(ann, 'two'),
      permitOf({ ...ann, metadata: { user: 'ben' } }, 'one'),
      permitOf({ ...ann, owner: 'one' }, 'one'),
    ])
    assert.is(new Set(owners.map(({ owner }) => owner)).size, owners.length)
  })

  it('is never asked of the application for a token that a server of this kind has made', async () => {
    const { authenticator } = guarded({ authenticate: () => assert.unreachable() })
    for (const token of ['share.forged.x', 'gateway.forged.x'])
      assert.is(await authenticator.permit(request(), token), undefined)
  })

  it('is told that a link has expired only where it is one of this server, and is over', () => {
    const { authenticator, shares, clock } = guarded({ tokens: {} })
    const made = shares.mint({ agentId: 'a', metadata: undefined, expiresAt: clock.now() + hour })
    const over = shares.mint({ agentId: 'a', metadata: undefined, expiresAt: clock.now() })
    const forged = new ShareTokens(clock, 'o'.repeat(32)).mint({ agentId: 'a', metadata: undefined, expiresAt: 1 })
    for (const [token, hasExpired, isKnown] of [
      [made, false, true],
      [over, true, false],
      [forged, false, false],
      ['no link', false, false],
      [undefined, false, false],
    ] as const) {
      assert.is(authenticator.hasExpired(token), hasExpired, token)
      assert.is(authenticator.permitOf(token) !== undefined, isKnown, token)
    }
    assert.is(authenticator.permitOf(made)?.expiresAt, clock.now() + hour)
  })

  it('is what a gateway says of it, for as long as that is connected', async () => {
    const { authenticator, forwarded, clock, failures } = guarded({ tokens: {} })
    const token = forwarded.mint({ grant: { role: 'talk' }, owner: 'ann', session: undefined }, 'ws://here/')
    const permit = authenticator.permitOf(token)!
    await clock.advance(hour)
    assert.is(permit.isGranted(), true)
    assert.is(authenticator.permitOf(token), undefined)
    assert.match(failures.join(), 'older than two minutes')
    const elsewhere = forwarded.mint({ grant: { role: 'talk' }, owner: 'ann', session: undefined }, 'ws://there/')
    assert.is(authenticator.permitOf(elsewhere), undefined)
    assert.match(failures.join(), 'there:80')
  })

  it('stays the same for a token as long as that is given the same', () => {
    const tokens: Record<string, 'talk' | 'admin'> = { 'token-of-somebody-here': 'talk' }
    const { authenticator } = guarded({ tokens })
    const permit = authenticator.permitOf('token-of-somebody-here')!
    assert.is(permit.isGranted(), true)
    tokens['token-of-somebody-here'] = 'admin'
    assert.is(permit.isGranted(), false)
    delete tokens['token-of-somebody-here']
    assert.is(permit.isGranted(), false)
    assert.is(authenticator.permitOf('token-of-somebody-here'), undefined)
  })
})
