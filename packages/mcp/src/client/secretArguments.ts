/** A value that may be a secret, with its name for `plain`. */
type Named = readonly [name: string, value: string]

/** Names of options, variables and headers whose values are secrets. */
const secretName =
  /(?:^|[-_.])(?:api-?_?key|access-?_?key|private-?_?key|key|token|secret|password|passwd|passphrase|pass|pwd|pat|auth|authorization|bearer|credentials?|cookie|connection-?_?string)$/i

const isSecretName = (name: string): boolean =>
  // `apiKey` and `accessToken` are in parts too.
  secretName.test(name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2'))

/** Returns true for a long part of a path or an argument without a name, of letters and digits, that a person would not have written. */
const looksRandom = (text: string): boolean => /^(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_.~-]{24,}$/.test(text)

/**
 * Finds possible secrets in an address: the values of its query, by their names; the password; parts of the path that look random, by
 * themselves. Empty for text that is no address. Pure.
 */
export function secretsInUrl(address: string): readonly Named[] {
  const url = URL.parse(address)
  if (url === null || !address.includes('://')) return []
  // As they stand there, and as they are meant.
  const raw = url.search
    .slice(1)
    .split('&')
    .map((part): Named => [decoded(part.split('=', 1)[0]!), part.slice(part.indexOf('=') + 1)])
  const path = url.pathname
    .split('/')
    .filter(looksRandom)
    .map((part): Named => [part, part])
  const password: Named[] = [url.password, decoded(url.password)].map((value) => ['password', value])
  return [...raw, ...url.searchParams, ...path, ...password]
}

/**
 * Finds possible secrets in the arguments of a program: `--token=x` and the value after `--api-key`, headers and variables as in `-H` and `-e`,
 * secrets in addresses, and random-looking values. Names come without dashes. Pure.
 */
export function secretsInArgs(args: readonly string[]): readonly Named[] {
  return args.flatMap((arg, index): readonly Named[] => {
    const before = index === 0 ? undefined : /^--?([\w.-]+)$/.exec(args[index - 1]!)?.[1]
    const [, name, value] = /^-{0,2}([\w.-]+)(?:=|:\s*)(.*)$/s.exec(arg) ?? []
    const named: Named[] = name !== undefined && isSecretName(name) ? [[name, value!]] : []
    const follows: Named[] =
      before !== undefined && isSecretName(before) && !arg.startsWith('--') ? [[before, arg]] : []
    const random: Named[] = looksRandom(arg) ? [[arg, arg]] : []
    return [...named, ...follows, ...random, ...secretsInUrl(arg), ...(value === undefined ? [] : secretsInUrl(value))]
  })
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
