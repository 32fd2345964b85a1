import { createInterface } from 'node:readline/promises'

/** Asks yes or no at the terminal. It is no when the person leaves; `undefined` once `signal` says that it was decided elsewhere. */
export async function askPerson(question: string, signal: AbortSignal): Promise<boolean | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const left = new Promise<string>((resolve) => terminal.once('close', () => resolve('no')))
  try {
    return /^y/i.test(await Promise.race([terminal.question(`${question} [y/n] `, { signal }), left]))
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  } finally {
    terminal.close()
  }
}
