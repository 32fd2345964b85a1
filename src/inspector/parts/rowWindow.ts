import { RowLayout, type RowKey, type RowLayoutOptions } from '../model/rowLayout.ts'

/** A row that is in the document. */
export interface ShownRow {
  readonly index: number
  readonly key: RowKey
  /** Pixels from the top of the first row. */
  readonly start: number
}

export type RowAlign = 'auto' | 'start' | 'center' | 'end'

export interface RowWindowOptions extends RowLayoutOptions {
  /** Rows beyond each edge of the view that are made too. */
  readonly overscan: number
  /** Whether it stays at the end while rows are added there. */
  readonly follows: boolean
}

/** So near to the end counts as being there, in pixels. */
const endPx = 60

/** Until the element is there. */
const firstHeight = 800

/** What a person does who wants to be somewhere else. */
const moves = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const

/** Which rows of a scrolling element are in view, and where it is to scroll. */
export class RowWindow {
  readonly layout = new RowLayout()
  readonly #draw: () => void
  #options: RowWindowOptions = { count: 0, keyOf: (index) => index, estimate: 0, overscan: 0, follows: false }
  #element: HTMLElement | null = null
  #top = 0
  #height = firstHeight
  #shown: readonly ShownRow[] = []
  /** Where to go, until all rows there have been measured, or a person moves. */
  #target: { readonly index: number; readonly align: RowAlign } | 'end' | null = null
  /** Where it has scrolled to by itself. */
  #wanted = 0
  #isAtEnd = true
  #last = ''
  /** Rows in view turned out to be of another height than was thought before they were there. */
  #hasSettled = false
  #rows: ResizeObserver | undefined
  #box: ResizeObserver | undefined

  /** `draw`: rows are in view that were not, or stand elsewhere. */
  constructor(draw: () => void) {
    this.#draw = draw
  }

  /** Pixels in view. */
  get height(): number {
    return this.#height
  }

  /** The rows to make now. */
  show(options: RowWindowOptions): readonly ShownRow[] {
    this.#options = options
    this.layout.take(options)
    const [first, last] = this.#range()
    const shown: ShownRow[] = []
    for (let index = first; index <= last; index += 1)
      shown.push({ index, key: options.keyOf(index), start: this.layout.startOf(index) })
    this.#shown = shown
    return shown
  }

  /** The rows of `show` are in the document, in this element. */
  settle(element: HTMLElement | null): void {
    this.#attach(element)
    if (element === null) return
    const last = this.#lastRow()
    const hasGrown = last !== this.#last || this.#hasSettled
    this.#last = last
    this.#hasSettled = false
    if (hasGrown && this.#options.follows && this.#isAtEnd && this.#target === null)
      this.#scroll(this.#lastTop(element))
    else this.#approach()
    this.#isAtEnd = this.#isNearEnd(element)
  }

  /** Measures a row from now on; it names its index as `data-index`. */
  readonly measure = (row: HTMLElement | null): void => {
    if (row === null) return
    this.#rows ??= new ResizeObserver((entries) => this.#resized(entries))
    this.#rows.observe(row)
  }

  scrollTo(index: number, align: RowAlign): void {
    this.#target = { index, align }
    this.#approach()
  }

  scrollToEnd(): void {
    this.#target = 'end'
    this.#approach()
  }

  /** Idempotent. */
  close(): void {
    this.#rows?.disconnect()
    this.#attach(null)
  }

  #attach(element: HTMLElement | null): void {
    if (element === this.#element) return
    this.#element?.removeEventListener('scroll', this.#onScroll)
    for (const move of moves) this.#element?.removeEventListener(move, this.#onMove)
    this.#box?.disconnect()
    this.#element = element
    if (element === null) return
    element.addEventListener('scroll', this.#onScroll, { passive: true })
    for (const move of moves) element.addEventListener(move, this.#onMove, { passive: true })
    this.#box = new ResizeObserver(() => this.#boxed(element))
    this.#box.observe(element)
    this.#top = element.scrollTop
    this.#boxed(element)
  }

  #boxed({ clientHeight }: HTMLElement): void {
    if (clientHeight === this.#height) return
    this.#height = clientHeight
    this.#draw()
  }

  readonly #onMove = (): void => {
    this.#target = null
  }

  readonly #onScroll = (): void => {
    const element = this.#element!
    this.#top = element.scrollTop
    // Somebody else has scrolled.
    if (Math.abs(this.#top - this.#wanted) > 1) this.#target = null
    this.#isAtEnd = this.#isNearEnd(element)
    const [first, last] = this.#range()
    // Rows beyond the edges are there already: only when these are reached others are made.
    if (first !== this.#shown[0]?.index || last !== this.#shown.at(-1)?.index) this.#draw()
  }

  #resized(entries: readonly ResizeObserverEntry[]): void {
    let shift = 0
    let hasChanged = false
    for (const { target, borderBoxSize } of entries) {
      const row = target as HTMLElement
      if (!row.isConnected) {
        this.#rows?.unobserve(row)
        continue
      }
      const height = borderBoxSize[0]?.blockSize ?? row.offsetHeight
      // It is hidden with all around it.
      if (height === 0) continue
      const index = Number(row.dataset['index'])
      const start = this.layout.startOf(index)
      const isFirst = !this.layout.isMeasured(index)
      const delta = this.layout.measured(index, height)
      hasChanged ||= delta !== 0
      this.#hasSettled ||= isFirst && delta !== 0
      // What is in view stays where it is.
      if (start < this.#top && this.#target === null) shift += delta
    }
    if (!hasChanged) return
    if (shift !== 0) this.#scroll(this.#top + shift)
    this.#draw()
  }

  /** Goes where it is to go; there it stays until what is in view has been measured. */
  #approach(): void {
    const target = this.#target
    // What is hidden cannot be scrolled.
    if (target === null || this.#element === null || this.#height === 0) return
    const { layout } = this
    let wanted: number
    if (target === 'end') wanted = this.#lastTop(this.#element)
    else {
      const { index, align } = target
      const start = layout.startOf(index)
      const end = start + layout.heightOf(index)
      const isInView = start >= this.#top && end <= this.#top + this.#height
      const side = align !== 'auto' ? align : isInView ? null : start < this.#top ? 'start' : 'end'
      if (side === null) {
        this.#target = null
        return
      }
      if (align === 'auto') this.#target = { index, align: side }
      const most = Math.max(0, layout.total - this.#height)
      const free = this.#height - (end - start)
      wanted = Math.min(most, Math.max(0, start - (side === 'start' ? 0 : side === 'center' ? free / 2 : free)))
    }
    if (Math.abs(this.#element.scrollTop - wanted) > 1) {
      const before = this.#element.scrollTop
      this.#scroll(wanted)
      // It may be as far as it goes until more is drawn.
      if (this.#element.scrollTop !== before) this.#draw()
    } else if (layout.isExact || this.#shown.every(({ index }) => layout.isMeasured(index))) this.#target = null
  }

  /** What it follows besides rows measured for the first time: one that comes after all others, the last one as it grows, less room; not one in the middle that was opened. */
  #lastRow(): string {
    const { count, keyOf } = this.#options
    return count === 0 ? '' : `${keyOf(count - 1)} ${this.layout.heightOf(count - 1)} ${this.#height}`
  }

  /** As the document has it: rows that were measured since are not drawn yet. */
  #isNearEnd = (element: HTMLElement): boolean => this.#lastTop(element) - element.scrollTop <= endPx

  #lastTop = ({ scrollHeight, clientHeight }: HTMLElement): number => Math.max(0, scrollHeight - clientHeight)

  #scroll(top: number): void {
    const element = this.#element!
    if (Math.abs(element.scrollTop - top) > 0.5) element.scrollTop = top
    this.#top = element.scrollTop
    this.#wanted = this.#top
  }

  #range(): readonly [first: number, last: number] {
    const { count, overscan } = this.#options
    if (count === 0) return [0, -1]
    const first = this.layout.indexAt(this.#top) - overscan
    const last = this.layout.indexAt(this.#top + this.#height) + overscan
    return [Math.max(0, first), Math.min(count - 1, last)]
  }
}
