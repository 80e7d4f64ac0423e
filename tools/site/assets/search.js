// Finds the sections in which every word occurs, in pages (index.js). Headings count more than text.
(() => {
  const field = document.getElementById('search'), found = document.getElementById('found'), article = document.querySelector('article');
  const top = document.body.dataset.top, most = 40;
  const lower = pages.map(entry => entry.slice(1).map(text => text.toLowerCase()));

  const count = (text, word) => text.split(word).length - 1;
  const score = ([title, heading, text], words) => {
    let sum = 0;
    for (const word of words) {
      const here = 8 * Math.min(1, count(heading, word)) + 4 * Math.min(1, count(title, word)) + Math.min(3, count(text, word));
      if (!here) return 0;
      sum += here;
    }
    return sum;
  };

  // marked adds a text to an element, with its words marked.
  const marked = (element, text, words) => {
    const low = text.toLowerCase();
    for (let at = 0; at < text.length;) {
      let next = text.length, length = 0;
      for (const word of words) {
        const place = low.indexOf(word, at);
        if (place >= 0 && place < next) [next, length] = [place, word.length];
      }
      element.append(text.slice(at, next));
      if (length) {
        const mark = document.createElement('mark');
        mark.textContent = text.slice(next, next + length);
        element.append(mark);
      }
      at = next + length;
      if (!length) break;
    }
    return element;
  };

  const excerpt = (text, words) => {
    const low = text.toLowerCase(), places = words.map(word => low.indexOf(word)).filter(place => place >= 0);
    const from = Math.max(0, (places.length ? Math.min(...places) : 0) - 60);
    return (from ? '... ' : '') + text.slice(from, from + 220) + (from + 220 < text.length ? ' ...' : '');
  };

  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(word => word);
    found.hidden = !words.length;
    article.hidden = !!words.length;
    found.textContent = '';
    if (!words.length) return;
    const hits = lower.map((entry, i) => [score(entry, words), i]).filter(hit => hit[0]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    const title = document.createElement('h1'), list = document.createElement('ul');
    title.textContent = hits.length === 1 ? '1 section' : hits.length + ' sections';
    for (const [, i] of hits.slice(0, most)) {
      const [address, page, heading, text] = pages[i], li = document.createElement('li'), a = document.createElement('a'), p = document.createElement('p');
      a.href = top + address;
      a.addEventListener('click', () => { field.value = ''; search(); });
      marked(a, heading === page ? page : page + ': ' + heading, words);
      li.append(a, marked(p, excerpt(text, words), words));
      list.append(li);
    }
    found.append(title, list);
    if (hits.length > most) found.append('The first ' + most + ' are listed.');
  };

  field.addEventListener('input', search);
  document.addEventListener('keydown', event => {
    if (event.key === '/' && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    }
    if (event.key === 'Escape' && document.activeElement === field) {
      field.value = '';
      search();
    }
  });
  field.value = new URLSearchParams(location.search).get('q') || '';
  search();
})();
