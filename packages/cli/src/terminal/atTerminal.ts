import type { CliHost } from '../cliHost.ts'
import type { PickerItem } from './input/picker.ts'
import { LiveScreen } from './liveScreen.ts'

/** Lets a person choose from a list; `undefined` if nothing was chosen. */
export type Pick = (title: string, items: readonly PickerItem[]) => Promise<number | undefined>

/** Lets a person choose at a terminal where no chat is open. */
export async function atTerminal<T>(host: CliHost, choose: (pick: Pick) => Promise<T>): Promise<T> {
  const screen = new LiveScreen(host)
  try {
    return await choose((title, items) => screen.pick(title, items, new AbortController().signal))
  } finally {
    screen.close()
  }
}
