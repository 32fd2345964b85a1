import { coloursFor } from '../../src/cli/terminal/colours.ts'
import { eventPrinter } from '../../src/cli/terminal/eventPrinter.ts'
import { pauseText } from '../../src/cli/terminal/sessionText.ts'
import { StatusLine } from '../../src/cli/terminal/statusLine.ts'
import { plainScreen } from '../../src/cli/terminal/screen.ts'
import type { AgentEvent } from '../../src/index.ts'
import { simulatedClock } from '../../src/testing/simulatedClock.ts'
import { assert, describe } from '../support/suite.ts'

describe('events at a terminal', (it) => {
  it('say what a fold and a prune hide and save, and why one was refused', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
    const economics = { freed: 1_240, rewritten: 100, paysAfter: 3 }
    const prune = { type: 'prune.applied', applied: true, steps: [2, 4], tokens: 1_400 }
    print({ ...prune, by: 'runtime', economics } as unknown as AgentEvent)
    print({ ...prune, steps: [6] } as unknown as AgentEvent)
    print({ ...prune, masked: true } as unknown as AgentEvent)
    print({ ...prune, applied: false, steps: [], reason: 'n6 is pinned' } as unknown as AgentEvent)
    assert.is(
      printed,
      '  folded: 2 steps · frees 1,240 tokens, pays after 3 requests\n  hidden: 1 step\n  output hidden: 2 steps\n  n6 is pinned\n',
    )
  })

  it('say which policy hid something, what asking it took, and nothing of one that found nothing by itself', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
    const usage = { input: 900, output: 100, cacheRead: 0, cacheWrite: 0 }
    const end = { type: 'policy.end', policy: 'tidy', outcome: 'planned', costUsd: 0 }
    print({ ...end, reason: 'old', usage, costUsd: 0.002 } as unknown as AgentEvent)
    print({
      type: 'prune.applied',
      applied: true,
      steps: [2],
      tokens: 9,
      policy: 'ti\u001B[2Jdy',
    } as unknown as AgentEvent)
    print({ ...end, outcome: 'nothing' } as unknown as AgentEvent)
    print({ ...end, policy: 'ti\u001B[2Jdy', outcome: 'failed', reason: 'no idea' } as unknown as AgentEvent)
    assert.is(
      printed,
      '  policy tidy has a plan: old · asking took 1,000 tokens, $0.0020\n  hidden: 1 step, by policy tidy\n  policy tidy failed: no idea\n',
    )
  })

  it('show below the text which policy decides, as long as it does', () => {
    const shown: string[] = []
    const screen = {
      ...plainScreen({ write: () => {} }),
      setStatus: (text: string | undefined) => void shown.push(text ?? ''),
    }
    const status = new StatusLine(screen, coloursFor({}, {}), simulatedClock())
    for (const event of [
      { type: 'run.start' },
      { type: 'state.changed', state: 'draining.consulting' },
      { type: 'policy.start', policy: 'tidy' },
      { type: 'policy.end', policy: 'tidy' },
      { type: 'model.waiting', model: 'p:m\n', why: 'concurrency', ahead: 2 },
      { type: 'model.waited', model: 'p:m', ms: 5 },
    ])
      status.see(event as unknown as AgentEvent)
    status.close()
    assert.equal(shown.slice(-5), [
      '● draining.consulting · policy tidy · 0 s · Ctrl-C to stop',
      '● draining.consulting · 0 s · Ctrl-C to stop',
      '● draining.consulting · waiting for p:m: all its calls are under way, 2 ahead · 0 s · Ctrl-C to stop',
      '● draining.consulting · 0 s · Ctrl-C to stop',
      '',
    ])
  })

  it('say that an agent goes in circles, and that it was paused for it', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
    const evidence = 'the same call with the same result 3 times: look\u001B[2J'
    print({ type: 'stall.detected', evidence, rung: 'pause' } as unknown as AgentEvent)
    const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
    const reason = { type: 'stall', rule: 'repeat', first: 2, target: 1, evidence } as const
    print({ type: 'run.end', stopReason: 'paused', turns: 3, usage, costUsd: 0, reason } as unknown as AgentEvent)
    assert.match(printed, /^ {2}↻ in circles: the same call with the same result 3 times: look.*\n/)
    assert.match(printed, '✗ paused: it went in circles: the same call with the same result 3 times: look')
    assert.not.match(printed, '\u001B')
    assert.is(
      pauseText(reason).replace(/look.*/, 'look'),
      'it went in circles: the same call with the same result 3 times: look',
    )
  })
})
