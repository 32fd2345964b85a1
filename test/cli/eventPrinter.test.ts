import { coloursFor } from '../../src/cli/terminal/colours.ts'
import { eventPrinter } from '../../src/cli/terminal/eventPrinter.ts'
import { pauseText } from '../../src/cli/terminal/sessionText.ts'
import { plainScreen } from '../../src/cli/terminal/screen.ts'
import type { AgentEvent } from '../../src/index.ts'
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
    print({ ...prune, applied: false, steps: [], reason: 'n6 is pinned' } as unknown as AgentEvent)
    assert.is(
      printed,
      '  folded: 2 steps · frees 1,240 tokens, pays after 3 requests\n  hidden: 1 step\n  n6 is pinned\n',
    )
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
