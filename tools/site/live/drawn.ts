import { figure } from '../prepare/figure.ts'

/** Shows a picture of ours in place of what an element has; it keeps where it was scrolled to. */
export function draw(
  place: HTMLElement,
  svg: string,
  { alt, name }: { readonly alt: string; readonly name: string },
): void {
  const before = place.querySelector('.picture-scroll')
  const { scrollLeft = 0, scrollTop = 0 } = before ?? {}
  const hadFocus = before !== null && before === document.activeElement
  // The picture escapes what was said: see escapeXml.
  place.innerHTML = figure(svg, { alt, name })
  const now = place.querySelector<HTMLElement>('.picture-scroll')!
  now.scrollLeft = scrollLeft
  now.scrollTop = scrollTop
  if (hadFocus) now.focus()
}

type Children = readonly (Node | string)[]

/** An element with its attributes and what is in it. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  children: Children = [],
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}
