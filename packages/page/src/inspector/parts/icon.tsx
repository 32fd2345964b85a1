/** Drawings in a box of 16 by 16. */
const drawings = {
  mark: 'M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4M5 8a3 3 0 1 0 6 0 3 3 0 0 0-6 0M8 6.8V8l.9.9',
  chevron: 'M6 4l4 4-4 4',
  close: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  help: 'M6 6.2A2 2 0 1 1 8.6 8c-.4.2-.6.5-.6 1M8 11.4v.1M1.5 8a6.5 6.5 0 1 0 13 0 6.5 6.5 0 0 0-13 0',
  send: 'M2.5 8h10M8.5 4l4 4-4 4',
  stop: 'M4 4h8v8H4z',
  resume: 'M5 3.5v9l7-4.5z',
  pause: 'M5 3.5v9M11 3.5v9',
  abort: 'M1.5 8a6.5 6.5 0 1 0 13 0 6.5 6.5 0 0 0-13 0M3.5 12.5l9-9',
  revert: 'M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M3 6.5L6 3.5M3 6.5l3 3',
  prune: 'M4.5 12.5a2 2 0 1 1 0-.1zM11.5 12.5a2 2 0 1 0 0-.1zM5.5 10.8L11 2.5M10.5 10.8L5 2.5',
  mask: 'M2.5 3.5h11M2.5 12.5h5M2.5 6.5h11v3h-11z',
  show: 'M1.5 8C3.2 5.2 5.4 3.8 8 3.8s4.8 1.4 6.5 4.2c-1.7 2.8-3.9 4.2-6.5 4.2S3.2 10.8 1.5 8M6 8a2 2 0 1 0 4 0 2 2 0 0 0-4 0',
  pin: 'M5.5 2.5h5M6.5 2.5v4L4.5 9h7l-2-2.5v-4M8 9v4.5',
  bringBack: 'M8 13.5V6M5 9l3-3 3 3M3.5 2.5v3a3 3 0 0 0 3 3M12.5 2.5v2',
  compact: 'M3 2.5h10M3 13.5h10M8 4.5v3M6 6l2 1.7L10 6M8 11.5v-3M6 10l2-1.7L10 10',
  policy:
    'M2 4h5M11 4h3M2 8h2M8 8h6M2 12h6M12 12h2M7 4a2 2 0 1 0 4 0 2 2 0 0 0-4 0M4 8a2 2 0 1 0 4 0 2 2 0 0 0-4 0M8 12a2 2 0 1 0 4 0 2 2 0 0 0-4 0',
  clock: 'M1.5 8a6.5 6.5 0 1 0 13 0 6.5 6.5 0 0 0-13 0M8 4.5V8l2.5 1.5',
  live: 'M5.5 8a2.5 2.5 0 1 0 5 0 2.5 2.5 0 0 0-5 0M3 3.2a6.8 6.8 0 0 0 0 9.6M13 3.2a6.8 6.8 0 0 1 0 9.6',
  agents: 'M8 2v4M8 6H3.5v4M8 6h4.5v4M2 10h3v3.5H2zM11 10h3v3.5h-3zM6.5 2h3',
  warning: 'M8 2.5l6 11H2zM8 6.5v3.2M8 11.6v.1',
  link: 'M6.5 9.5l3-3M7 4.5l1-1a3 3 0 0 1 4.5 4.5l-1 1M9 11.5l-1 1A3 3 0 0 1 3.5 8l1-1',
  key: 'M2 10.5a2.5 2.5 0 1 0 5 0 2.5 2.5 0 0 0-5 0M6.3 8.7L13 2.5M10.5 5l2 2',
  search: 'M2.5 7a4.5 4.5 0 1 0 9 0 4.5 4.5 0 0 0-9 0M10.3 10.3L14 14',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3',
  drawer: 'M2 3h12v10H2zM10 3v10',
  more: 'M3.5 6l4.5 4.5L12.5 6',
  system: 'M2 3h12v8H2zM6 13.5h4M8 11v2.5',
  light:
    'M5 8a3 3 0 1 0 6 0 3 3 0 0 0-6 0M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7',
  dark: 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z',
  fork: 'M4.5 5.5v5M4.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M4.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M11.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M11.5 5.5c0 3-7 2-7 5',
  export: 'M8 2.5v7M5 6.5l3 3 3-3M2.5 11v2.5h11V11',
  compare: 'M2 3h5v10H2zM9 3h5v10H9z',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
} as const

export type IconName = keyof typeof drawings

/** A drawing beside words, hidden from assistive technology. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={drawings[name]} />
  </svg>
)
