import { signal, type Signal } from '@preact/signals'
import { KeptTexts, forgetful, type TextStore } from './keptTexts.ts'

/** Colour themes of the page. `system`: the theme of the operating system. */
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** Stores of the person's choices: for a tab, and for the browser. */
export interface ChoiceStores {
  readonly tab: () => TextStore
  readonly browser: () => TextStore
}

/** Width of the right column in CSS pixels. */
export const detailsWidth = { least: 260, usual: 344, most: 720 } as const
/** Width of the list of agents in CSS pixels. */
export const sideWidth = { least: 200, usual: 264, most: 520 } as const

/** The person's settings of the page, beside the route: colours, widths, hints that were read. */
export class ShellChoices {
  readonly theme: Signal<Theme>
  /** Width of the details, in CSS pixels. */
  readonly details: Signal<number>
  /** Width of the list of agents, in CSS pixels. */
  readonly side: Signal<number>
  /** True while the details lie over the agent; used where there is no room beside it. */
  readonly isDrawerOpen = signal(false)
  /** True while the hint for first-time users is shown. */
  readonly hasHint: Signal<boolean>
  readonly #tab: KeptTexts
  readonly #browser: KeptTexts

  constructor(stores?: ChoiceStores) {
    const own = forgetful()
    this.#tab = new KeptTexts(stores?.tab ?? (() => own))
    this.#browser = new KeptTexts(stores?.browser ?? (() => own))
    const theme = this.#browser.get('theme')
    this.theme = signal(themes.find((one) => one === theme) ?? 'system')
    this.details = signal(widthOf(this.#tab.get('details width'), detailsWidth))
    this.side = signal(widthOf(this.#tab.get('list width'), sideWidth))
    this.hasHint = signal(stores !== undefined && this.#browser.get('hint') !== 'read')
  }

  setTheme(theme: Theme): void {
    this.theme.value = theme
    this.#browser.set('theme', theme === 'system' ? undefined : theme)
  }

  /** Sets the width of the details; a width outside the limits becomes the nearest possible one. */
  setDetails(width: number): void {
    this.details.value = within(width, detailsWidth)
    this.#tab.set('details width', String(this.details.value))
  }

  /** Sets the width of the list of agents, with the rule of `setDetails`. */
  setSide(width: number): void {
    this.side.value = within(width, sideWidth)
    this.#tab.set('list width', String(this.side.value))
  }

  /** Closes the hint for good. */
  closeHint(): void {
    this.hasHint.value = false
    this.#browser.set('hint', 'read')
  }
}

type Widths = typeof detailsWidth | typeof sideWidth

const within = (width: number, { least, most }: Widths): number => Math.round(Math.min(most, Math.max(least, width)))

const widthOf = (kept: string | undefined, widths: Widths): number =>
  within(kept !== undefined && /^\d{1,4}$/.test(kept) ? Number(kept) : widths.usual, widths)
