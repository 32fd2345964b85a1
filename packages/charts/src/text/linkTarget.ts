const allowed = new Set(['http:', 'https:', 'mailto:'])

/**
 * Returns the target to which a link in a foreign text may lead: a full address of `http`, `https` or `mailto`; `undefined` for anything
 * else, which is then to be shown as text. Pure.
 */
export function linkTarget(url: string): string | undefined {
  const target = URL.parse(url)
  return target !== null && allowed.has(target.protocol) ? target.href : undefined
}
