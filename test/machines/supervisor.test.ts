import { assert, describe } from '../support/suite.ts'
import {
  answer,
  crashed,
  ended,
  opened,
  SupervisorDriver,
  supervisorIn,
  supervisorPlaces,
  type SupervisorPlace,
} from './supervisorDriver.ts'

const underway = (driver: SupervisorDriver): string[] => [...driver.underway.keys()]

describe('the supervisor of a sub-agent', (it) => {
  it('opens the child, runs it as a child actor beside a watch, and gives its answer', () => {
    const driver = new SupervisorDriver()
    assert.equal(
      driver.started.map(({ id, src }) => [id, src]),
      [['open', 'openChild']],
    )
    driver.finish('open', opened())
    assert.equal(
      driver.started.slice(1).map(({ id, src }) => [id, src]),
      [
        ['agent', 'agent'],
        ['watch', 'watchChild'],
      ],
    )
    driver.finish('watch', ended(5))
    assert.equal([driver.state, driver.status, driver.said], ['ended', 'done', 'well done'])
    assert.equal(underway(driver), [])
  })

  it('tells the opening and the watch which life it is', () => {
    const driver = supervisorIn('backoff')
    driver.wake()
    driver.finish('open', opened())
    const lives = driver.started
      .filter(({ id }) => id === 'open' || id === 'watch')
      .map(({ id, input }) => [id, (input as { readonly life: number }).life])
    assert.equal(lives, [
      ['open', 0],
      ['watch', 1],
      ['open', 1],
      ['watch', 2],
    ])
  })

  it('is over when the child cannot be opened, with what the caller is to be told', () => {
    const driver = new SupervisorDriver()
    driver.finish('open', { ok: false, output: answer('too deep', { isError: true }) })
    assert.equal([driver.state, driver.said], ['ended', 'too deep'])
  })

  it('answers with an error when opening breaks', () => {
    const driver = new SupervisorDriver()
    driver.fail('open', 'the disk is gone')
    assert.is(driver.state, 'ended')
    assert.match(driver.said, 'the disk is gone')
    assert.is(driver.output?.error?.code, 'INTERNAL')
    assert.is(driver.output?.key, 'a/t0/tool/c1')
  })

  it('gives the child up when the watch breaks', () => {
    const driver = supervisorIn('running')
    driver.fail('watch', 'nobody looks')
    assert.is(driver.state, 'givenUp')
    assert.match(driver.said, 'nobody looks')
  })

  it('leaves it to the watch to say what came of the agent', () => {
    for (const end of ['finish', 'fail'] as const) {
      const driver = supervisorIn('running')
      driver[end]('agent', 'whatever')
      assert.equal([driver.state, underway(driver)], ['running', ['watch']])
    }
  })
})

describe('a supervised child that crashes', (it) => {
  it('begins anew after a wait that doubles', () => {
    const driver = supervisorIn('running')
    let at = 1_000
    const waits: number[] = []
    for (let crash = 0; crash < 3; crash += 1) {
      driver.finish('watch', crashed(at))
      assert.is(driver.state, 'backoff')
      assert.equal(underway(driver), ['backoff'])
      const woken = driver.wake()
      waits.push(woken - at)
      at = woken
      driver.finish('open', opened())
    }
    assert.equal(waits, [100, 200, 400])
    assert.is(driver.context.lives, 4)
    driver.finish('watch', crashed(at))
    assert.equal([driver.state, driver.said], ['givenUp', 'a defect'])
  })

  it('is forgiven crashes older than the window', () => {
    const driver = supervisorIn('running')
    for (let crash = 0; crash < 20; crash += 1) {
      const at = crash * 10_000
      driver.finish('watch', crashed(at))
      assert.is(driver.wake() - at, 100, 'the wait does not grow either')
      driver.finish('open', opened())
    }
    assert.is(driver.state, 'running')
  })

  it('is given up after as many crashes as are allowed, be they hundreds, and keeps no more of them', () => {
    const policy = { maxRestarts: 150, windowMs: 1e9, backoffMs: 0 }
    const driver = new SupervisorDriver()
    driver.finish('open', opened(policy))
    for (let crash = 0; crash < 150; crash += 1) {
      driver.finish('watch', crashed(crash))
      driver.wake()
      driver.finish('open', opened(policy))
    }
    assert.is(driver.state, 'running')
    driver.finish('watch', crashed(150))
    assert.is(driver.state, 'givenUp')
    const calm = supervisorIn('running')
    for (let crash = 0; crash < 20; crash += 1) {
      calm.finish('watch', crashed(crash * 10_000))
      assert.ok(calm.context.crashes.length <= 3)
      calm.wake()
      calm.finish('open', opened())
    }
  })

  it('waits under a key of its own each time', () => {
    const driver = supervisorIn('backoff')
    driver.wake()
    driver.finish('open', opened())
    driver.finish('watch', crashed(1_200))
    const keys = driver.started.flatMap(({ id, input }) => (id === 'backoff' ? [(input as { key: string }).key] : []))
    assert.equal(keys, [...new Set(keys)])
    assert.is(keys.length, 2)
  })

  it('is given up at once with restart never, and with no restarts left from the beginning', () => {
    for (const policy of [{ restart: 'never' }, { maxRestarts: 0 }] as const) {
      const driver = new SupervisorDriver()
      driver.finish('open', opened(policy))
      driver.finish('watch', crashed(1))
      assert.is(driver.state, 'givenUp')
    }
  })

  it('is opened again even when the wait breaks', () => {
    const driver = supervisorIn('backoff')
    driver.fail('backoff', 'no clock')
    assert.is(driver.state, 'opening')
  })

  it('is not begun anew once it was aborted, stopped or closed', () => {
    for (const type of ['abort', 'stop', 'close'] as const) {
      const driver = supervisorIn('running')
      driver.tell(type)
      driver.finish('watch', crashed(1))
      assert.is(driver.state, 'givenUp', type)
    }
  })
})

describe('a supervised child that ends by itself', (it) => {
  const attached = (restart: 'transient' | 'permanent', more: object = {}) => {
    const driver = new SupervisorDriver(null)
    driver.finish('open', opened({ restart }))
    driver.finish('watch', ended(1_000, more))
    return driver.state
  }

  it('is begun anew only when it is permanent, and no call waits for it', () => {
    assert.is(attached('permanent'), 'backoff')
    assert.is(attached('transient'), 'ended')
    const called = new SupervisorDriver()
    called.finish('open', opened({ restart: 'permanent' }))
    called.finish('watch', ended(1_000))
    assert.is(called.state, 'ended')
  })

  it('is not begun anew when somebody stopped it', () => {
    assert.is(attached('permanent', { stopped: true }), 'ended')
  })

  it('is not begun anew without end: the same window counts', () => {
    const driver = new SupervisorDriver(null)
    driver.finish('open', opened({ restart: 'permanent', maxRestarts: 2 }))
    for (let end = 0; end < 2; end += 1) {
      driver.finish('watch', ended(1_000 + end))
      driver.wake()
      driver.finish('open', opened({ restart: 'permanent', maxRestarts: 2 }))
    }
    driver.finish('watch', ended(1_002))
    assert.is(driver.state, 'ended')
  })
})

/** Effect of each word on a called child, by where it is; an attached one differs where it says so. */
const words: { readonly [P in SupervisorPlace]: { readonly [W in 'abort' | 'stop' | 'close']: string } } = {
  opening: { abort: 'ended', stop: 'ended', close: 'ended' },
  running: { abort: 'running', stop: 'running', close: 'running' },
  backoff: { abort: 'ended', stop: 'ended', close: 'ended' },
  ended: { abort: 'ended', stop: 'ended', close: 'ended' },
  givenUp: { abort: 'givenUp', stop: 'givenUp', close: 'givenUp' },
}

describe('every state of a supervisor', (it) => {
  for (const place of supervisorPlaces)
    for (const word of ['abort', 'stop', 'close'] as const) {
      it(`takes ${word} while ${place} on behalf of a call`, () => {
        const driver = supervisorIn(place)
        driver.tell(word)
        assert.is(driver.state, words[place][word])
        if (place === 'running') assert.equal(driver.told, [word])
        else assert.equal([driver.told, underway(driver)], [[], []])
      })

      it(`takes ${word} while ${place} on behalf of code: an abort does not end the child`, () => {
        const driver = supervisorIn(place, null)
        const before = underway(driver)
        driver.tell(word)
        assert.is(driver.state, word === 'abort' ? place : words[place][word])
        if (place === 'running') assert.equal(driver.told, [word])
        if (word === 'abort') assert.equal(underway(driver), before)
      })
    }

  it('answers an abort before the child began with an error', () => {
    const driver = supervisorIn('opening')
    driver.tell('abort')
    assert.ok(driver.output?.isError)
    assert.is(driver.output?.error?.code, 'ABORTED')
  })

  it('answers an abort between two lives with what the last one came to', () => {
    const driver = supervisorIn('backoff')
    driver.tell('abort')
    assert.is(driver.said, 'a defect')
  })

  it('can be told as often as one likes', () => {
    const driver = supervisorIn('running')
    for (const word of ['abort', 'abort', 'stop', 'stop', 'close'] as const) driver.tell(word)
    driver.finish('watch', ended(1))
    assert.equal([driver.state, driver.said], ['ended', 'well done'])
  })
})
