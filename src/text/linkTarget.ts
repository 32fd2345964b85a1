const allowed = new Set(['http:', 'https:', 'mailto:'])

/**
 * Where a link of somebody's text may lead: to `http`, `https` and `mailto` as a full address; `undefined` for anything else, which is
 * then to be shown as text. Pure.
 */
export function linkTarget(url: string): string | undefined {
  const target = URL.parse(url)
  return target !== null && allowed.has(target.protocol) ? target.href : undefined
}
