import { coloursFor } from '../../src/cli/terminal/colours.ts'
import { eventPrinter } from '../../src/cli/terminal/eventPrinter.ts'
import { plainScreen } from '../../src/cli/terminal/screen.ts'
import type { AgentEvent } from '../../src/index.ts'
import { assert, describe } from '../support/suite.ts'

describe('events at a terminal', (it) => {
  it('say what a fold and a prune hide and save, and nothing of one that was refused', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    const print = eventPrinter({ screen, colours: coloursFor({}, {}), isPriced: false })
    const economics = { freed: 1_240, rewritten: 100, paysAfter: 3 }
    const prune = { type: 'prune.applied', applied: true, steps: [2, 4], tokens: 1_400 }
    print({ ...prune, by: 'runtime', economics } as unknown as AgentEvent)
    print({ ...prune, steps: [6] } as unknown as AgentEvent)
    print({ ...prune, applied: false, steps: [], reason: 'n6 is pinned' } as unknown as AgentEvent)
    assert.is(printed, '  folded: 2 steps · frees 1,240 tokens, pays after 3 requests\n  hidden: 1 step\n')
  })
})
