import { Cancellation } from '../../src/actors/timing/cancellation.ts'
import { systemClock } from '../../src/protocol/ports/clock.ts'
import { Redactor } from '../../packages/redaction/src/redactor.ts'
import { Sources } from '../../src/runtime/agents/sources.ts'
import { scriptedSource } from '../support/scriptedSource.ts'
import { assert, describe } from '../support/suite.ts'

const newRedactor = (): Redactor => new Redactor({ knownKeys: false })

describe('secrets that replace others again and again', (it) => {
  it('are blanked as long as they are new: those of long ago cost every text time', () => {
    const redactor = new Redactor({ secrets: { MINE: 'what-never-changes' }, knownKeys: false })
    for (let n = 1; n <= 1_000; n++) redactor.renew('srv', [`token-number-${n}`])
    assert.is(redactor.text('token-number-1000 token-number-900'), '[redacted:srv] [redacted:srv]')
    assert.is(redactor.text('token-number-1 what-never-changes'), 'token-number-1 [redacted:MINE]')
    assert.ok(redactor.secrets.length < 1_000)
  })

  it('stay when they are also one that stays, in whatever order they come', () => {
    const redactor = new Redactor({ knownKeys: false })
    redactor.renew('srv', ['of-both-kinds-1'])
    redactor.add('fixed', ['of-both-kinds-1', 'of-both-kinds-2'])
    redactor.renew('srv', ['of-both-kinds-2'])
    for (let n = 1; n <= 1_000; n++) redactor.renew('srv', [`token-number-${n}`])
    assert.not.match(redactor.text('of-both-kinds-1 of-both-kinds-2'), /of-both/)
  })

  it('push nothing out that a source had from the beginning, or that another one has', async ({ signal, cleanup }) => {
    const sources = new Sources({ newRedactor, clock: systemClock })
    cleanup(() => sources.close())
    const fixed = scriptedSource('srv', [], { secrets: ['from-the-beginning'] })
    const other = scriptedSource('other')
    for (const source of [fixed, other]) await sources.use(source, {}).ready(Cancellation.of(signal))
    other.host!.hide!(['of-the-other-one'])
    for (let n = 1; n <= 1_000; n++) fixed.host!.hide!([`token-number-${n}`])
    const text = sources.redactor!.text('from-the-beginning of-the-other-one token-number-1000')
    assert.is(text, '[redacted:srv] [redacted:other] [redacted:srv]')
  })
})
