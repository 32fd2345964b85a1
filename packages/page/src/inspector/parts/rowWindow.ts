import { RowLayout, type RowKey, type RowLayoutOptions } from './rowLayout.ts'

/** A row that is in the document. */
export interface ShownRow {
  readonly index: number
  readonly key: RowKey
  /** Distance from the top of the first row, in pixels. */
  readonly start: number
}

export type RowAlign = 'auto' | 'start' | 'center' | 'end'

export interface RowWindowOptions extends RowLayoutOptions {
  /** Number of rows beyond each edge of the view that are made too. */
  readonly overscan: number
  /**
   * True if the list stays at its end while rows are added there, until a person scrolls up. Rows that come after a change to `false` are still
   * followed, until a person does something in the list: the last rows may come together with the news that they are the last.
   */
  readonly follows: boolean
  /** True if the first row in view stays where it is when rows come or go before it. Keys of rows are then strings or numbers of their own. */
  readonly keepsRow?: boolean
}

/** Distance from the end that still counts as the end, in pixels. */
const endPx = 60

/** Height of the view in pixels until the element is there. */
const firstHeight = 800

/** Events by which a person may move to another place in the list. */
const moves = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const

/** Tracks the rows of a scrolling element that are in view, and its scroll target. */
export class RowWindow {
  readonly layout = new RowLayout()
  readonly #draw: () => void
  #options: RowWindowOptions = { count: 0, keyOf: (index) => index, estimate: 0, overscan: 0, follows: false }
  #element: HTMLElement | null = null
  #top = 0
  #height = firstHeight
  #shown: readonly ShownRow[] = []
  /** Place to scroll to, until all rows there have been measured, or a person moves. */
  #target: { readonly index: number; readonly align: RowAlign } | 'end' | null = null
  /** Scroll position when the list was last placed, by itself or by a person. */
  #placed = 0
  /** Scrollable extent at that moment. */
  #extent = ''
  /** True while the reader is at the end. While the list follows, no growth, measurement or layout changes that: only scrolling up does. */
  #isAtEnd = true
  /** True if the list has followed its end, and a person has done nothing here since. */
  #isKept = false
  /** True if a person has done something here since the list was last placed. */
  #hasInput = false
  /** True once a person has turned the wheel up, until they do something else: the document scrolls later, and rows may grow before. */
  #isLeaving = false
  /** Key of the row with which a person last did something. */
  #touched: RowKey | null = null
  /** True if the touched row has become higher or lower: it then stays where it is. */
  #isHeld = false
  /** Pixels by which rows before the view have moved the rows in view, until the document has followed. */
  #shift = 0
  #rows: ResizeObserver | undefined
  #box: ResizeObserver | undefined

  /** `draw`: called when other rows are in view, or rows have moved. */
  constructor(draw: () => void) {
    this.#draw = draw
  }

  /** Height of the view, in pixels. */
  get height(): number {
    return this.#height
  }

  /** Returns the rows to draw. */
  show(options: RowWindowOptions): readonly ShownRow[] {
    const kept = options.keepsRow === true && !this.isFollowing ? this.layout.indexAt(this.#top) : -1
    const key = kept < 0 ? undefined : this.#options.keyOf(kept)
    const before = this.layout.startOf(kept)
    this.#options = options
    this.layout.take(options)
    if (key !== undefined) this.#follow(kept, key, before)
    const [first, last] = this.#range()
    const shown: ShownRow[] = []
    for (let index = first; index <= last; index += 1)
      shown.push({ index, key: options.keyOf(index), start: this.layout.startOf(index) })
    this.#shown = shown
    return shown
  }

  /** Follows the first row in view, which was at `index` and began at `start`. */
  #follow(index: number, key: RowKey, start: number): void {
    const { count, keyOf } = this.#options
    if (index < count && keyOf(index) === key) return
    let now = 0
    while (now < count && keyOf(now) !== key) now += 1
    if (now === count) return
    const shift = this.layout.startOf(now) - start
    this.#top += shift
    this.#shift += shift
  }

  /** True while the list stays at its end as rows are added. */
  get isFollowing(): boolean {
    if (this.#target !== null) return this.#target === 'end'
    return this.#isAtEnd && (this.#options.follows || this.#isKept)
  }

  /** Takes the element in which the rows of `show` have been drawn. */
  settle(element: HTMLElement | null): void {
    this.#attach(element)
    // What is hidden has no place.
    if (element === null || this.#height === 0) return
    if (this.#shift !== 0) this.#scroll(element.scrollTop + this.#shift)
    this.#shift = 0
    this.#look(element)
    if (this.#isHeld) this.#stay(element)
    else if (this.#target === null && this.isFollowing) this.#scroll(this.#lastTop(element))
    else this.#approach()
    if (this.isFollowing) this.#isKept = true
    else if (this.#target === null && !this.#isLeaving)
      this.#isAtEnd = this.#gap(element) <= (this.#options.follows ? 1 : endPx)
    this.#place(element)
  }

  /** Measures a row from now on. The row has its index in `data-index`. */
  readonly measure = (row: HTMLElement | null): void => {
    if (row === null) return
    this.#rows ??= new ResizeObserver((entries) => this.#resized(entries))
    this.#rows.observe(row)
  }

  scrollTo(index: number, align: RowAlign): void {
    this.#target = { index, align }
    this.#isKept = false
    this.#approach()
  }

  scrollToEnd(): void {
    this.#target = 'end'
    this.#isAtEnd = true
    this.#isLeaving = false
    this.#isKept = true
    this.#approach()
  }

  /** Closes the window. Idempotent. */
  close(): void {
    this.#rows?.disconnect()
    this.#attach(null)
  }

  #attach(element: HTMLElement | null): void {
    if (element === this.#element) return
    this.#element?.removeEventListener('scroll', this.#onScroll)
    for (const move of moves) this.#element?.removeEventListener(move, this.#onMove, true)
    this.#box?.disconnect()
    this.#element = element
    if (element === null) return
    element.addEventListener('scroll', this.#onScroll, { passive: true })
    // Before what the page does with it, which may be to scroll.
    for (const move of moves) element.addEventListener(move, this.#onMove, { passive: true, capture: true })
    this.#box = new ResizeObserver(() => this.#boxed(element))
    this.#box.observe(element)
    this.#place(element)
    this.#boxed(element)
  }

  #boxed({ clientHeight }: HTMLElement): void {
    if (clientHeight === this.#height) return
    this.#height = clientHeight
    this.#draw()
  }

  readonly #onMove = (event: Event): void => {
    const { target } = event
    const list = this.#element!
    this.#target = null
    this.#isKept = false
    this.#hasInput = true
    this.#isLeaving = event instanceof WheelEvent && event.deltaY < 0 && list.scrollTop > 0
    if (this.#isLeaving) this.#leaveEnd()
    // Keys mean the row that the list says is active.
    const active = target === list ? document.getElementById(list.getAttribute('aria-activedescendant') ?? '') : target
    const row = active instanceof Element ? active.closest<HTMLElement>('[data-index]') : null
    const index = row === null ? NaN : Number(row.dataset['index'])
    this.#touched = index < this.#options.count ? this.#options.keyOf(index) : null
  }

  /**
   * Finds out if a person has scrolled. Rows that grow or shrink scroll too, and growth can hide that, so if the amount to scroll has
   * changed, only a person's input counts.
   */
  #look(element: HTMLElement): void {
    this.#top = element.scrollTop
    if (this.#gap(element) <= 1) this.#isAtEnd = !this.#isLeaving
    else if (Math.abs(this.#top - this.#placed) > 1 && (this.#hasInput || this.#extentOf(element) === this.#extent)) {
      this.#target = null
      if (this.#top < this.#placed) this.#leaveEnd()
      else this.#isAtEnd ||= this.#gap(element) <= endPx
    } else return
    this.#place(element)
  }

  readonly #onScroll = (): void => {
    const element = this.#element!
    if (this.#height > 0) this.#look(element)
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
      const end = start + this.layout.heightOf(index)
      const delta = this.layout.measured(index, height)
      hasChanged ||= delta !== 0
      const { count, keyOf } = this.#options
      // Opened by a person, who reads it; the last one may grow by itself.
      if (!isFirst && delta !== 0 && index < count - 1 && keyOf(index) === this.#touched) this.#isHeld = true
      // What is in view stays where it is: a row that begins above it and reaches into it grows at its end, as a reply does.
      if ((isFirst ? start : end - 1) < this.#top && this.#target === null && !this.isFollowing) shift += delta
    }
    if (!hasChanged) return
    if (shift !== 0) this.#scroll(this.#top + shift)
    this.#draw()
  }

  /** Scrolls to the target, and stays there until the rows in view have been measured. */
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
      if (target !== 'end') this.#stay(this.#element)
      // It may be as far as it goes until more is drawn.
      if (this.#element.scrollTop !== before) this.#draw()
    } else if (layout.isExact || this.#shown.every(({ index }) => layout.isMeasured(index))) this.#target = null
  }

  /** Keeps the position, which counts as the end only if the end is near. */
  #stay(element: HTMLElement): void {
    this.#isHeld = false
    if (this.#gap(element) > endPx) this.#leaveEnd()
    else this.#isAtEnd = true
  }

  #leaveEnd(): void {
    this.#isAtEnd = false
    this.#isKept = false
  }

  #lastTop = ({ scrollHeight, clientHeight }: HTMLElement): number => Math.max(0, scrollHeight - clientHeight)

  /** Returns the distance from the end in pixels, as drawn in the document: newly measured rows are not drawn yet. */
  #gap = (element: HTMLElement): number => this.#lastTop(element) - element.scrollTop

  #extentOf = ({ scrollHeight, clientHeight }: HTMLElement): string => `${scrollHeight} ${clientHeight}`

  #scroll(top: number): void {
    const element = this.#element!
    if (Math.abs(element.scrollTop - top) > 0.5) element.scrollTop = top
    this.#place(element)
  }

  /** Records the position that has been reached. */
  #place(element: HTMLElement): void {
    this.#top = element.scrollTop
    this.#placed = this.#top
    this.#extent = this.#extentOf(element)
    this.#hasInput = false
  }

  #range(): readonly [first: number, last: number] {
    const { count, overscan } = this.#options
    if (count === 0) return [0, -1]
    const first = this.layout.indexAt(this.#top) - overscan
    const last = this.layout.indexAt(this.#top + this.#height) + overscan
    return [Math.max(0, first), Math.min(count - 1, last)]
  }
}
