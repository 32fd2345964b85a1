/** The deeds of a person at an agent. Their code comes beside that of its conversation, which is read before. */
export { HeaderActions } from './headerActions.tsx'
export { PromptBox } from './promptBox.tsx'
export { PendingBar } from '../calls/pendingBar.tsx'
