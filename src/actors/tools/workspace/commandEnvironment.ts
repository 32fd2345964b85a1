const secretName =
  /(?:^|_)(?:\w*KEY|\w*TOKEN|\w*SECRET)S?(?:_|$)|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|(?:^|_)(?:PAT|PWD_?HASH)$/i

/** Whether a variable's name looks like that of a secret: `API_KEY`, `GITHUB_TOKEN`, `AWS_SECRET_ACCESS_KEY`, `PGPASSWORD` … */
export const looksSecret = (name: string): boolean => secretName.test(name)

/** What a command sees: the base without variables that look secret, then `added` as it is; `undefined` removes one. */
export function commandEnvironment(
  base: { readonly [name: string]: string | undefined },
  added: { readonly [name: string]: string | undefined },
): Record<string, string> {
  const merged = { ...Object.fromEntries(Object.entries(base).filter(([name]) => !looksSecret(name))), ...added }
  return Object.fromEntries(Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
