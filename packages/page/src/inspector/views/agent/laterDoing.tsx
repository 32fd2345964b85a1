import { laterPart } from '../../parts/later.tsx'
import type { PendingBarProps } from '../calls/pendingBar.tsx'
import type { HeaderActionsProps } from './headerActions.tsx'
import type { PromptBoxProps } from './promptBox.tsx'

const doing = () => import('./agentDoing.ts')

/** The menu of the agent, with a placeholder of its size until it is loaded. */
export const HeaderActions = laterPart<HeaderActionsProps>(
  <div class="header-actions">
    <button type="button" class="button quiet" disabled>
      More
    </button>
  </div>,
  async () => (await doing()).HeaderActions,
)

/** The field to talk to the agent, with a placeholder of its size until it is loaded. */
export const PromptBox = laterPart<PromptBoxProps>(
  <div class="prompt">
    <div class="prompt-line">
      <span class="input grow">&nbsp;</span>
    </div>
  </div>,
  async () => (await doing()).PromptBox,
)

/** The calls that wait for people. */
export const PendingBar = laterPart<PendingBarProps>(<></>, async () => (await doing()).PendingBar)

/** Fetches the code of these parts. Never rejects. */
export const preloadDoing = (): Promise<unknown> =>
  Promise.all([HeaderActions.preload(), PromptBox.preload(), PendingBar.preload()])
