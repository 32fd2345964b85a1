import { useEffect, useState } from 'preact/hooks'

/** Says the newest of some texts to screen readers, when it has stood for a moment: a busy agent would never stop talking. */
export function Announcer({ text }: { readonly text: string }) {
  const [said, setSaid] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSaid(text), 700)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div class="hidden" role="status" aria-live="polite">
      {said}
    </div>
  )
}
