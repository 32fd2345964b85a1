import { prose } from '../../../generate/project.ts'
import { tool } from '../../../generate/toolSpec.ts'
import type { MadeCall, MadeStep } from '../scenario.ts'
import type { Workplace } from '../workplace.ts'
import { times, type Likeness } from './likeness.ts'

/** Most steps that an agent of this kind may take. */
const longest = 20

/** How pages are told: the part in view, the whole page wherever it is scrolled to, or by a picture alone. */
type Telling = 'view' | 'whole' | 'picture'

/** A browser, whose results are the state of the page after each action. */
class Browser {
  readonly #at: Workplace
  readonly #telling: Telling
  #page = ''
  #view = ''
  readonly steps: MadeStep[] = []

  constructor(at: Workplace) {
    this.#at = at
    this.#telling = at.random.chance(0.03) ? 'picture' : at.random.chance(0.08) ? 'whole' : 'view'
    this.open()
  }

  act(name: string, input: object, more: Partial<MadeCall> = {}): void {
    const shown = this.#telling === 'picture' ? '' : this.#telling === 'whole' ? this.#page : this.#page + this.#view
    const changed = name === 'scroll' || name === 'wait' ? [] : [name]
    this.steps.push(this.#at.step({ tool: name, input, output: shown, changed, ...more }))
  }

  open(): void {
    const { random } = this.#at
    const links = times(random.between(4, 12), (index) => `[${index}] link "${prose(random, 3)}"`)
    this.#page = `url https://shop.example/${random.between(1, 9_999)}\n${links.join('\n')}\n`
    this.#view = prose(random, 30)
  }

  show(text: string): void {
    this.#page = text
  }

  scroll(): void {
    this.#view = prose(this.#at.random, 30)
    this.act('scroll', { direction: 'down' })
  }
}

const id = (at: Workplace): object => ({ id: at.random.between(1, 40) })

/** Actions in a browser, much of it several times in a row. */
const episodes: readonly ((browser: Browser, at: Workplace) => void)[] = [
  (browser, at) => {
    browser.open()
    browser.act('type', { ...id(at), text: prose(at.random, 3) })
    browser.open()
    browser.act('click', id(at))
  },
  (browser, at) => times(at.random.between(2, 5), () => browser.scroll()),
  (browser, at) => {
    const next = id(at)
    times(at.random.between(2, 5), () => {
      browser.open()
      browser.act('click', next)
    })
  },
  (browser, at) => {
    const plus = id(at)
    times(at.random.between(2, 4), (count) => {
      browser.show(`Guests: ${count + 2} adults, 0 children\n`)
      browser.act('click', plus)
    })
  },
  (browser, at) => {
    browser.show('Loading…\n')
    times(at.random.pick([1, 1, 2, 3]), () => browser.act('wait', { seconds: 2 }))
    browser.open()
    browser.act('wait', { seconds: 2 })
  },
  (browser, at) => {
    const late = id(at)
    times(at.random.between(1, 2), () => browser.act('click', late))
    browser.open()
    browser.act('click', late)
  },
  (browser, at) => {
    times(at.random.between(1, 2), () => {
      const missing = at.random.between(1, 60)
      browser.act('click', { id: missing }, { output: `Element ${missing} is not visible`, isError: true, changed: [] })
    })
    browser.open()
    browser.act('scroll', { direction: 'up' })
  },
]

function browse(at: Workplace, most: number): Browser {
  const browser = new Browser(at)
  browser.act('goto', { url: 'https://shop.example' })
  while (browser.steps.length < most) at.random.pick(episodes)(browser, at)
  return browser
}

/** Loops that failed runs end in. */
const loops: readonly ((browser: Browser, at: Workplace) => void)[] = [
  (browser, at) => {
    const dead = id(at)
    while (browser.steps.length < longest) browser.act('click', dead)
  },
  (browser) => {
    while (browser.steps.length < longest) browser.act('scroll', { direction: 'down' })
  },
  (browser, at) => {
    const [there, pages] = [id(at), ['results of the search\n', 'one article\n']]
    while (browser.steps.length < longest) {
      browser.show(pages[browser.steps.length % 2]!)
      if (browser.steps.length % 2 === 0) browser.act('back', {})
      else browser.act('click', there)
    }
  },
  (browser, at) => {
    while (browser.steps.length < longest) {
      const missing = at.random.between(1, 60)
      browser.act('click', { id: missing }, { output: `Element ${missing} is not visible`, isError: true, changed: [] })
    }
  },
  (browser) => {
    browser.show('Are you human? Check the box.\n')
    while (browser.steps.length < longest) browser.act('reload', {})
  },
]

export const browserRuns: Likeness = {
  name: 'browser, as Convergence',
  tools: [
    tool('goto', 'Opens an address.', 'url'),
    tool('click', 'Clicks an element.', 'id'),
    tool('type', 'Types into an element.', 'id', 'text'),
    tool('scroll', 'Scrolls the page.', 'direction'),
    tool('wait', 'Waits for the page.', 'seconds'),
    tool('back', 'Goes back.'),
    tool('reload', 'Loads the page again.'),
  ],
  polling: [],
  passed: 0.31,
  passing: (at) => browse(at, at.random.between(4, 14)).steps.slice(0, longest),
  failing: (at) => {
    const browser = browse(at, at.random.between(3, 13))
    if (at.random.chance(0.6)) at.random.pick(loops)(browser, at)
    return browser.steps.slice(0, longest)
  },
}
