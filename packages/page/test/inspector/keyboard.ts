import type { Page } from 'playwright-core'
import { waitFactor } from '../../../../test/support/deadline.ts'

/** Means of a person without a mouse: keys, and eyes that look for the focus. */
export interface Keyboard {
  /** Presses keys, one after the other. Rejects where the focus cannot be seen after one. */
  press(...keys: readonly string[]): Promise<void>
  /** Types into what has the focus. Rejects as `press`. */
  type(text: string): Promise<void>
  /** Goes on by Tab, or back, to what has this name. Rejects where it is not found. */
  tabTo(name: RegExp, how?: { readonly back?: boolean }): Promise<void>
  /** Presses a key until what is looked at, the active row of a list too, has this text. Rejects where it never has. */
  moveTo(text: RegExp, key: string): Promise<void>
  /** Waits until what is looked at has a name. */
  isAt(name: RegExp): Promise<void>
}

/** More steps than this are not the way of a person. */
const mostSteps = 60

const nowhere = 'nothing has the focus'

/** Focused element or, in a list, its active row: its name, and what is wrong with how it looks. */
const look = `(() => {
  const at = document.activeElement
  if (at === null || at === document.body) return { problem: '${nowhere}', name: '' }
  const id = at.getAttribute('aria-activedescendant')
  const shown = id === null ? at : document.getElementById(id)
  if (shown === null) return { problem: id + ' is active, but is not drawn', name: '' }
  const labels = [...(at.labels ?? [])].map((label) => label.textContent).join(' ')
  const name = (shown.getAttribute('aria-label') || labels || shown.textContent || shown.title).replaceAll(/\\s+/g, ' ').trim()
  const said = { name, problem: '' }
  const box = shown.getBoundingClientRect()
  const { top, left } = { top: Math.max(0, box.top), left: Math.max(0, box.left) }
  const [right, bottom] = [Math.min(innerWidth, box.right), Math.min(innerHeight, box.bottom)]
  if (right - left < 2 || bottom - top < 2) return { ...said, problem: 'is out of sight' }
  const places = [[left + 3, top + 3], [(left + right) / 2, (top + bottom) / 2], [right - 3, bottom - 3]]
  const isSeen = places.some(([x, y]) => {
    const over = document.elementFromPoint(x, y)
    return over !== null && (shown.contains(over) || over.contains(shown) || over.closest('label')?.contains(shown))
  })
  if (!isSeen) return { ...said, problem: 'is covered' }
  if (!at.matches(':focus-visible')) return { ...said, problem: 'does not show that it has the focus' }
  const marks = [[at], [at, '::after'], [shown], [at.nextElementSibling ?? at]].map(([of, part]) => getComputedStyle(of, part))
  const isMarked = marks.some(({ boxShadow, outlineStyle, outlineWidth }) => boxShadow !== 'none' || (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0))
  const isSplitter = at.matches('.splitter')
  return isMarked || isSplitter ? said : { ...said, problem: 'has the focus without a mark' }
})()`

interface Look {
  readonly name: string
  readonly problem: string
}

/** The keyboard of a page. */
export function keyboardOf(page: Page): Keyboard {
  const now = (): Promise<Look> => page.evaluate<Look>(look)
  /** Looks once the page is right or has had its time to become so: the focus may follow what is drawn. */
  const settled = async (isRight: (seen: Look) => boolean): Promise<Look> => {
    const late = performance.now() + 3_000 * waitFactor()
    for (;;) {
      const seen = await now()
      if (isRight(seen) || performance.now() > late) return seen
      await page.waitForTimeout(20)
    }
  }
  const check = async (after: string): Promise<Look> => {
    const seen = await settled(({ problem }) => problem === '')
    if (seen.problem !== '') throw new Error(`after ${after}: "${seen.name.slice(0, 80)}" ${seen.problem}`)
    return seen
  }
  let hasBegun = false
  const before = async (key: string): Promise<void> => {
    // Since the last key something may have gone that had the focus.
    if (hasBegun) await check(`what came before ${key}`)
    hasBegun = true
  }
  const press = async (key: string): Promise<Look> => {
    await before(key)
    await page.keyboard.press(key)
    return await check(key)
  }
  const until = async (name: RegExp, key: string): Promise<void> => {
    const passed: string[] = []
    await before(key)
    for (let step = 0; step < mostSteps; step++) {
      await page.keyboard.press(key)
      // Beyond the last place of the page are those of the browser.
      if (key.endsWith('Tab') && (await now()).problem === nowhere) {
        passed.push('(the browser)')
        continue
      }
      const seen = await check(key)
      if (name.test(seen.name)) return
      passed.push(seen.name.slice(0, 40))
    }
    throw new Error(`${key} never leads to ${String(name)}, but to ${passed.join(' | ')}`)
  }
  return {
    async press(...keys) {
      for (const key of keys) await press(key)
    },
    async type(text) {
      await page.keyboard.type(text)
      await check(`typing "${text}"`)
    },
    tabTo: (name, { back = false } = {}) => until(name, back ? 'Shift+Tab' : 'Tab'),
    async moveTo(text, key) {
      if (!text.test((await now()).name)) await until(text, key)
    },
    async isAt(name) {
      const seen = await settled((one) => one.problem === '' && name.test(one.name))
      if (seen.problem !== '' || !name.test(seen.name))
        throw new Error(`the focus is not at ${String(name)}: "${seen.name.slice(0, 200)}" ${seen.problem}`)
    },
  }
}
