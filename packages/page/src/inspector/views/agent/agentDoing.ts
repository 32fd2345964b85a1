/** Actions of a person on an agent. Their code is fetched beside that of its conversation, which is read first. */
export { HeaderActions } from './headerActions.tsx'
export { PromptBox } from './promptBox.tsx'
export { PendingBar } from '../calls/pendingBar.tsx'
